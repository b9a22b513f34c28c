"""What `doctor` looks at: one function per check, each with a verdict, what it saw and the fix."""
