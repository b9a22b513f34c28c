"""Where a model is looked for, and what is said when it is not there or not whole."""

from pathlib import Path

import pytest
from tests.models import built_tiny_model

from iai_mcp.adapters.embedding import catalogue, location
from iai_mcp.adapters.embedding.runtime import load_configured
from iai_mcp.domain.errors import InvalidInput, ModelDamaged, NotInstalled
from iai_mcp.model_builder import install


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("IAI_MCP_EMBED_MODEL", raising=False)


@pytest.fixture
def own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = built_tiny_model(tmp_path)
    monkeypatch.setenv("IAI_MCP_EMBED_MODEL", str(directory))
    return directory


def test_without_a_model_the_error_names_the_command() -> None:
    with pytest.raises(NotInstalled, match="run: iai-mcp model install"):
        load_configured()


def test_the_store_comes_before_the_home(tmp_path: Path) -> None:
    store, home = location.homes(catalogue.DEFAULT)

    assert store == tmp_path / "store" / "models" / catalogue.DEFAULT.model_id
    assert home == tmp_path / "home" / ".iai-mcp" / "models" / catalogue.DEFAULT.model_id


def test_a_model_that_was_asked_for_by_name_is_the_one_looked_for(tmp_path: Path) -> None:
    other = catalogue.by_name("gte-small")

    install.choose(other)

    assert location.chosen() is other
    with pytest.raises(NotInstalled, match="iai-mcp model install --model gte-small"):
        load_configured()


def test_a_scratch_store_follows_the_choice_of_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IAI_MCP_STORE")
    install.choose(catalogue.by_name("gte-small"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "scratch"))

    assert location.chosen().name == "gte-small"


def test_a_choice_that_this_version_does_not_know_is_no_choice(tmp_path: Path) -> None:
    (tmp_path / "store" / "models").mkdir(parents=True)
    (tmp_path / "store" / "models" / "chosen").write_text("model-of-the-future\n")

    assert location.chosen() is catalogue.DEFAULT


def test_the_environment_may_name_a_model_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IAI_MCP_EMBED_MODEL", "gte-small")

    with pytest.raises(NotInstalled, match="--model gte-small"):
        load_configured()


@pytest.mark.usefixtures("own_model")
def test_a_model_of_the_users_own_is_used() -> None:
    assert load_configured().model_id == "tiny"


def test_it_may_be_named_by_its_graph(own_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IAI_MCP_EMBED_MODEL", str(own_model / "model.onnx"))

    assert load_configured().model_id == "tiny"


def test_it_may_keep_its_graph_one_level_down_as_published_models_do(own_model: Path) -> None:
    (own_model / "manifest.json").unlink()
    (own_model / "onnx").mkdir()
    for name in ("model.onnx", "weights.bin", "words.bin"):
        (own_model / name).rename(own_model / "onnx" / name)

    assert load_configured().dimensions == 32


def test_without_a_manifest_it_is_named_after_its_contents(own_model: Path) -> None:
    (own_model / "manifest.json").unlink()
    first = load_configured().model_id

    (own_model / "manifest.json").write_text('{"prefix": "query: "}')

    assert first.startswith("own.model.")
    assert load_configured().model_id != first


def test_a_path_that_leads_nowhere_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_EMBED_MODEL", str(tmp_path / "nowhere"))

    with pytest.raises(InvalidInput, match=r"IAI_MCP_EMBED_MODEL is .*nowhere"):
        load_configured()


def test_a_graph_without_a_tokenizer_is_refused(own_model: Path) -> None:
    (own_model / "tokenizer.json").unlink()

    with pytest.raises(InvalidInput, match=r"no tokenizer\.json"):
        load_configured()


def test_a_file_that_was_cut_is_damage_with_its_remedy(own_model: Path) -> None:
    weights = own_model / "weights.bin"
    weights.write_bytes(weights.read_bytes()[:-100])

    with pytest.raises(ModelDamaged, match=r"weights\.bin has .* unset IAI_MCP_EMBED_MODEL"):
        load_configured()


def test_numbers_that_changed_show_in_the_probe(own_model: Path) -> None:
    weights = own_model / "weights.bin"
    content = bytearray(weights.read_bytes())
    content[::3] = bytes(len(content[::3]))
    weights.write_bytes(content)

    with pytest.raises(ModelDamaged, match="does not give"):
        load_configured()


@pytest.mark.parametrize("content", [b"", b"not a graph at all", b"\x08\x0a" * 40])
def test_a_graph_that_is_none_is_damage(own_model: Path, content: bytes) -> None:
    (own_model / "manifest.json").unlink()
    (own_model / "model.onnx").write_bytes(content)

    with pytest.raises(ModelDamaged, match="onnxruntime can not load"):
        load_configured()
