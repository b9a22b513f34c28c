"""Ports made real: encrypted SQLite, the embedder, files, PTYs. Only composition roots import these."""
