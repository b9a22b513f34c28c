"""Replaces secrets in a text by visible markers, before anything is stored. The entry is `redact`."""

from iai_mcp.domain.redaction.redactor import Pattern, Redacted, redact, redact_json

__all__ = ["Pattern", "Redacted", "redact", "redact_json"]
