"""Recall quality on public sets, through the daemon's own API, beside BM25, cosine and RRF."""

from bench.quality.run import main

__all__ = ["main"]
