"""The sentence embedder made real: a small BERT as an int8 ONNX graph on onnxruntime.

`runtime` answers; `location` finds an installed model, which `model_builder` has made.
"""

import os

# onnxruntime reports to its maker unless this is set before it is loaded: an identifier of the
# machine, the path of the program, the kind of processor. Nothing may leave this machine, so it
# stands here, ahead of every module that imports it, and is no setting.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
