"""What an agent is: its profile, its context document, its launch, its terminal and its worktree."""
