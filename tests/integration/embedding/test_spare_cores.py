"""How many cores nobody else needs: as many as are idle on mains, one on battery."""

from pathlib import Path

import pytest

from iai_mcp.adapters.spare_cores import SpareCores, mains


@pytest.mark.parametrize(
    ("cores", "load", "own", "spare"),
    [
        (8, 0.2, 1, 8),
        (8, 3.0, 1, 6),
        (8, 8.2, 8, 8),  # all of the load is the caller's
        (8, 20.0, 4, 1),
        (2, 1.9, 1, 1),
        (1, 0.0, 1, 1),
    ],
)
def test_idle_cores_are_those_that_others_leave(
    cores: int, load: float, own: int, spare: int
) -> None:
    assert SpareCores(cores, lambda: load, lambda: True)(own) == spare


def test_on_battery_one_core_is_enough() -> None:
    assert SpareCores(8, lambda: 0.0, lambda: False)(1) == 1


def test_the_machine_is_looked_at_every_few_seconds() -> None:
    now, loads = [0.0], [0.0, 7.0]
    spare = SpareCores(8, lambda: loads.pop(0), lambda: True, lambda: now[0])
    assert (spare(1), spare(1)) == (8, 8)
    now[0] = 10.0
    assert spare(1) == 2


def _supply(at: Path, name: str, **said: str) -> None:
    (at / name).mkdir()
    for what, value in said.items():
        (at / name / what).write_text(f"{value}\n")


def test_a_drained_battery_is_told_from_a_full_one_and_from_that_of_a_mouse(tmp_path: Path) -> None:
    assert mains(tmp_path / "absent")
    _supply(tmp_path, "AC", type="Mains", online="0")
    _supply(tmp_path, "mouse", type="Battery", scope="Device", status="Discharging")
    _supply(tmp_path, "BAT0", type="Battery", status="Charging")
    (tmp_path / "odd").write_bytes(b"\xff" * 100)
    assert mains(tmp_path)
    (tmp_path / "BAT0" / "status").write_text("Discharging\n")
    assert not mains(tmp_path)
