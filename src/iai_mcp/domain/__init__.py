"""Values and rules that hold whatever the machine: pure, no I/O, no clock, no environment."""
