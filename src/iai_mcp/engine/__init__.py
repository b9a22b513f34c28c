"""What finds: the memories in columns, vectors and words, and which of them might answer a cue.

numpy, no SQL, no file: what is kept comes through ports.
"""
