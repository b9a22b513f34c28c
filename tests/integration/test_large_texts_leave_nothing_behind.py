"""A text of megabytes is stored, and the memory it took goes back."""

import os
import subprocess
import sys
from pathlib import Path

_GROWTH = """
import gc
from pathlib import Path
from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024

def capture(text):
    return dispatch(store, "memory_capture", {"text": text, "session_id": "s"})["status"]

store = MemoryStore()
for number in range(20):
    capture(f"turn {number}")
store.database.shrink()
before = resident()
assert capture("word " * 2_000_000) == "inserted"
gc.collect()
store._give_back()
print(resident() - before)
store.close()
"""


def test_ten_megabytes_do_not_stay_in_memory(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "IAI_MCP_STORE": str(tmp_path / "data"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    done = subprocess.run(
        [sys.executable, "-c", _GROWTH],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 20
