"""Makes the int8 models that `adapters/embedding` runs, from weights that package registries carry.

Only `iai-mcp model install` imports this package.
"""

# Building runs graphs too. This import stands ahead of every module here that loads onnxruntime:
# it keeps the library from reporting to its maker.
import iai_mcp.adapters.embedding  # noqa: F401 - for what it does when it is loaded
