"""What runs the model tells nobody: no identifier of the machine, no queue of reports to send."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src"


@pytest.mark.parametrize("part", ["adapters.embedding.session", "model_builder.build"])
@pytest.mark.parametrize("asked", [{}, {"ORT_DISABLE_TELEMETRY": "0"}])
def test_loading_the_runtime_leaves_no_trace_of_reports(
    tmp_path: Path, part: str, asked: dict[str, str]
) -> None:
    # A bare environment: the runtime keeps quiet by itself where it sees a test or a build server.
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": str(SOURCE), **asked}
    loading = f"import iai_mcp.{part}"
    subprocess.run([sys.executable, "-c", loading], env=environment, timeout=60, check=True)
    assert list(tmp_path.rglob("*")) == []
