"""`Memories` in one encrypted SQLite file: text, vectors and indexes are unreadable without the key."""
