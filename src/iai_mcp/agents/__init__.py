"""Use cases of the agents half: projects, profiles, agents, launch, sessions."""
