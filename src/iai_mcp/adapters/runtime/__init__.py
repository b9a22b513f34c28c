"""Agent programs on this machine: finding them, and knowing how each is started."""
