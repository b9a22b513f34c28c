"""Readers of histories whose program needs no package of its own: one module per format."""
