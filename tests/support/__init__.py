"""What tests share to drive the real thing: scratch homes, a daemon process, raw sockets."""
