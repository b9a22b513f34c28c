"""What goes on beside the calls, whoever owns the process: threads that rest until there is work."""
