"""Changing other people's configuration files: merged in, taken out again exactly, never rewritten.

`jsonc` and `json_text` know JSON as text with spans, so comments, order and indentation stay;
`toml_text` does the same for TOML. `receipts` remembers what was there before, `files` writes.
"""
