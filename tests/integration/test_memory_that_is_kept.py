"""A process that stays keeps a little of what it frees: asking the system for it again takes longer."""

import subprocess
import sys

_FAULTS = """
import ctypes
import resource
from iai_mcp.adapters.allocator import keep_little

keep_little()
allocator = ctypes.CDLL(None)
allocator.malloc.restype, allocator.free.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)

def use_and_free():
    taken = allocator.malloc(700_000)  # what a recall works with for a moment
    ctypes.memset(taken, 1, 700_000)
    allocator.free(taken)

use_and_free()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    use_and_free()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_what_is_used_for_a_moment_is_not_asked_for_again_and_again() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FAULTS], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(done.stdout) < 1_000
