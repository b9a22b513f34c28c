"""What a model directory says about itself."""

from pathlib import Path

import pytest

from iai_mcp.adapters.embedding import manifest
from iai_mcp.adapters.embedding.manifest import FileMark, Manifest, Probe
from iai_mcp.domain.errors import ModelDamaged


def test_a_manifest_comes_back_as_it_was_written(tmp_path: Path) -> None:
    written = Manifest(
        model_id="tiny",
        max_tokens=48,
        pooling="graph",
        prefix="query: ",
        files={"model.onnx": FileMark(3, "ab" * 32)},
        probe=Probe("hello", (0.6, 0.8)),
        words=("words.bin", 70),
        fidelity=0.996,
        licence="MIT",
    )
    (tmp_path / "manifest.json").write_text(written.to_json())

    assert manifest.read(tmp_path) == written


def test_a_manifest_of_the_users_own_may_say_as_little_as_it_likes(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"prefix": "passage: "}')

    assert manifest.read(tmp_path) == Manifest(prefix="passage: ")


def test_no_manifest_is_no_error(tmp_path: Path) -> None:
    assert manifest.read(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"pooling": "max"}', '{"max_tokens": 0}', '{"prefix": 3}', '{"files": 7}'],
)
def test_a_senseless_manifest_is_damage(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)

    with pytest.raises(ModelDamaged, match=r"manifest\.json can not be used"):
        manifest.read(tmp_path)
