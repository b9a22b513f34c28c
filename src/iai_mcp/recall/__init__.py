"""The recall pipeline: query -> candidates -> score -> resolve -> render, one module per stage.

Each stage takes values and returns values. `memory/recall.py` reads the store between them.
"""
