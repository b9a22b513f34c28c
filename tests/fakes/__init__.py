"""One hand-written fake per port."""
