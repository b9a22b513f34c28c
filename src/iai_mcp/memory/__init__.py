"""Use cases of the memory half: capture, recall, contradict, reinforce, forget, sleep, profile."""
