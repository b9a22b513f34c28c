"""The bar of a download only grows: what is measured is a file that is moved and removed at its end."""

import pytest

from iai_mcp.cli import model, output


def test_what_has_arrived_never_becomes_less(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(output, "redraws", lambda: True)
    monkeypatch.setattr(output, "redraw", drawn.append)
    monkeypatch.setattr(output, "aside", drawn.append)
    steps = model._Steps(expected_mb=84)

    steps.step("Downloading")
    for size in (0, 42_000_000, 84_000_000, 83_000_000, 0):
        steps.arrived(size)
    steps.step("Checking")
    steps.step("Downloading")
    steps.arrived(0)

    shares = [line.partition("] ")[2] for line in drawn if "] " in line]
    assert [share.split("%")[0] for share in shares] == ["0", "50", "100", "100", "100", "0"]
