"""Replaces secrets in a text by visible markers, before anything is stored."""
