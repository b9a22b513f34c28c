"""Which memories answer a cue, and why: measures of words, meaning, time and people in, order out.

Pure arithmetic over columns; nothing here knows where the numbers come from.
"""
