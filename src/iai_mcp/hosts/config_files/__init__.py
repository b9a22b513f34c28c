"""Edits configuration files that belong to others: adds our entries, removes them exactly.

`jsonc` and `json_text` know JSON as text with spans, so comments, order and indentation stay;
`toml_file` does the same for TOML. `receipts` remembers what was there before, `files` writes.
"""
