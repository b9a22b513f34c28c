"""Crush."""
