"""What a cue says: its words, the names and identifiers in it, and the time it speaks of."""
