"""Background threads of a store: they sleep until there is work, and never delay a call."""
