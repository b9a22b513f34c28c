"""Consolidation while nobody asks: fixed steps in small pages, each resumable, none of them an LLM."""
