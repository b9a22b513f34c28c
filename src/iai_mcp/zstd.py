"""Zstandard compression: part of Python since 3.14, before that from its backport."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import (
        DecompressionParameter,
        ZstdDecompressor,
        ZstdError,
        ZstdFile,
        compress,
    )
else:
    from backports.zstd import (
        DecompressionParameter,
        ZstdDecompressor,
        ZstdError,
        ZstdFile,
        compress,
    )

__all__ = ["DecompressionParameter", "ZstdDecompressor", "ZstdError", "ZstdFile", "compress"]
