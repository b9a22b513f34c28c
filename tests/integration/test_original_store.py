"""Memories of the original iai-mcp 0.4: found, left alone, and imported on request."""

import base64
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.support.answers import Json
from tests.support.home import ScratchHome

from iai_mcp.adapters import original_store
from iai_mcp.adapters.original_store import OriginalRecords, Row
from iai_mcp.domain.errors import NotFound, NotInstalled

KEY = bytes(range(32))
SOURCE = str(Path(original_store.__file__).parents[2])
START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
needs_lancedb = pytest.mark.skipif(
    importlib.util.find_spec("lancedb") is None,
    reason="lancedb is not installed (pip install lancedb)",
)

Tables = dict[str, list[dict[str, object]]]


def sealed(identity: str, text: str, key: bytes = KEY) -> str:
    """As version 0.4 writes a field: bound to the id of its record."""
    nonce = os.urandom(12)
    secret = AESGCM(key).encrypt(nonce, text.encode(), identity.encode("ascii"))
    return "iai:enc:v1:" + base64.b64encode(nonce + secret).decode("ascii")


def row(text: str, minutes: int, role: str = "user", **more: object) -> dict[str, object]:
    identity = str(uuid4())
    key = more.pop("key", KEY)
    assert isinstance(key, bytes)
    whence = json.dumps([{"session_id": "s-1", "role": role, "cue": "x"}])
    return {
        "id": identity,
        "tier": "episodic",
        "literal_surface": sealed(identity, text, key),
        "embedding": [0.0] * 8,
        "provenance_json": sealed(identity, whence, key),
        "tags_json": json.dumps([f"role:{role}", "idem:1"]),
        "created_at": START + timedelta(minutes=minutes),
        "pinned": False,
        **more,
    }


def story() -> Tables:
    """What somebody said, an answer, a fact and the fact that replaced it, and one deleted memory."""
    said = row("  The port of héron is 5433.\n", 0)
    answer = row("Noted: 5433.", 1, "assistant")
    new = row("The port of héron is 6000 now.", 3)
    gone = row("forgotten", 2, tombstoned_at=START.isoformat())
    plain = {**row("written before encryption", 4), "literal_surface": "written before encryption"}
    plain["provenance_json"] = "[]"
    records = [new, said, answer, plain, gone]
    for each in records:
        each.setdefault("tombstoned_at", None)
    edge = {"weight": 1.0, "updated_at": START + timedelta(minutes=3)}
    edges = [
        {"src": said["id"], "dst": new["id"], "edge_type": "contradicts", **edge},
        {"src": said["id"], "dst": answer["id"], "edge_type": "hebbian", **edge},
    ]
    return {"records": records, "edges": edges}


def read(tables: Tables, root: Path) -> OriginalRecords:
    def rows(name: str, columns: Sequence[str]) -> Sequence[Row]:
        return [{c: each.get(c) for c in columns} for each in tables[name]]

    return OriginalRecords(str(root), rows)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".crypto.key").write_bytes(KEY)
    return tmp_path


def test_texts_times_roles_and_contradictions_are_read(root: Path) -> None:
    tables = story()
    found = list(read(tables, root))

    assert [each["text"] for each in found] == [
        "  The port of héron is 5433.\n",
        "Noted: 5433.",
        "The port of héron is 6000 now.",
        "written before encryption",
    ]
    assert [each["role"] for each in found] == ["user", "assistant", "user", "user"]
    assert [each["session_id"] for each in found] == ["s-1", "s-1", "s-1", ""]
    assert found[1]["ts"] == "2026-03-01T09:31:00+00:00"
    assert found[2]["supersedes"] == [found[0]["id"]]
    assert found[0]["valid_to"] == "2026-03-01T09:33:00+00:00"
    assert "valid_to" not in found[1]


def test_a_record_under_another_key_is_counted_and_left_out(root: Path) -> None:
    tables = story()
    tables["records"].append(row("another key", 9, key=bytes(32)))
    records = read(tables, root)
    assert "another key" not in [each["text"] for each in records]
    assert records.unreadable == 1


def test_the_key_may_come_from_a_passphrase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_CRYPTO_PASSPHRASE", "correct horse")
    salt = hashlib.sha256(b"default").digest()[:16]
    key = hashlib.pbkdf2_hmac("sha256", b"correct horse", salt, 600_000)
    tables: Tables = {"records": [row("by passphrase", 0, key=key)], "edges": []}
    assert [each["text"] for each in read(tables, tmp_path)] == ["by passphrase"]


def test_without_a_key_one_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IAI_MCP_CRYPTO_PASSPHRASE", raising=False)
    with pytest.raises(NotFound, match=r"\.crypto\.key.*IAI_MCP_CRYPTO_PASSPHRASE"):
        list(read(story(), tmp_path))


def test_without_the_library_one_sentence_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    (tmp_path / "lancedb").mkdir()
    with pytest.raises(NotInstalled, match="pip install lancedb"):
        original_store.tables_of(str(tmp_path))


def test_where_there_is_none_the_directory_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="name the directory"):
        original_store.tables_of(str(tmp_path))


@pytest.fixture
def home() -> Iterator[ScratchHome]:
    made = ScratchHome()
    made.store.mkdir()
    (made.store / "lancedb").mkdir()
    (made.store / "lancedb" / "records.lance").write_text("theirs")
    (made.store / "lancedb" / "records.lance").chmod(0o644)
    (made.store / ".crypto.key").write_bytes(KEY)
    (made.store / ".crypto.key").chmod(0o600)
    yield made
    made.command("down")
    made.remove()


def answer(home: ScratchHome, *words: str, PYTHONPATH: str = SOURCE) -> Json:  # noqa: N803 - a variable
    done = home.command(*words, "--json", PYTHONPATH=PYTHONPATH)
    assert done.stdout, done.stderr
    parsed: Json = json.loads(done.stdout)
    return parsed


def tree(home: ScratchHome) -> dict[str, tuple[bytes, int, int]]:
    """What belongs to the original: contents, modes, times."""
    files = [home.store / ".crypto.key", *sorted((home.store / "lancedb").rglob("*"))]
    return {
        str(p): (p.read_bytes() if p.is_file() else b"", p.stat().st_mode, p.stat().st_mtime_ns)
        for p in files
    }


def test_up_doctor_and_import_say_what_was_found_and_touch_nothing(home: ScratchHome) -> None:
    before = tree(home)
    command = "iai-mcp import --from iai-mcp-0.4"
    assert command in answer(home, "up")["original_store"]
    assert command in answer(home, "import")["original_store"]
    checks = {check["name"]: check for check in answer(home, "doctor", "--fix")["checks"]}
    assert checks["original store"]["status"] == "WARN"
    assert command in checks["original store"]["detail"]
    assert command in home.command("import").stderr + home.command("import").stdout
    assert tree(home) == before


def test_an_import_that_can_not_read_it_is_one_sentence(home: ScratchHome) -> None:
    done = home.command("import", "--from", "iai-mcp-0.4")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_model_name_of_the_original_is_answered_with_what_to_set(home: ScratchHome) -> None:
    shown = home.command("model", "status", IAI_MCP_EMBED_MODEL="bge-m3")
    said = shown.stdout + shown.stderr
    assert "bge-m3" in said
    assert "all-minilm-l6-v2" in said
    assert "Traceback" not in said


# As version 0.4 lays its tables out, written with the library that it used.
_WRITE = """
import json, sys
from datetime import datetime
import lancedb, pyarrow as pa

moment = pa.timestamp("us", tz="UTC")
records = pa.schema([
    ("id", pa.string()), ("tier", pa.string()), ("literal_surface", pa.string()),
    ("embedding", pa.list_(pa.float32(), 8)), ("provenance_json", pa.string()),
    ("tags_json", pa.string()), ("created_at", moment), ("pinned", pa.bool_()),
    ("tombstoned_at", pa.string()),
])
edges = pa.schema([
    ("src", pa.string()), ("dst", pa.string()), ("edge_type", pa.string()),
    ("weight", pa.float32()), ("updated_at", moment),
])
database = lancedb.connect(sys.argv[1])
given = json.load(sys.stdin)
for name, schema in (("records", records), ("edges", edges)):
    for row in given[name]:
        for column in ("created_at", "updated_at"):
            if column in row:
                row[column] = datetime.fromisoformat(row[column])
    database.create_table(name, schema=schema).add(given[name])
"""


@needs_lancedb
def test_a_store_in_the_format_of_the_original_is_imported_once_and_left_as_it_was(
    home: ScratchHome,
) -> None:
    (home.store / "lancedb" / "records.lance").unlink()
    given = json.dumps(story(), default=lambda moment: moment.isoformat())
    place = str(home.store / "lancedb")
    subprocess.run([sys.executable, "-c", _WRITE, place], input=given, text=True, check=True)
    before = tree(home)
    path = os.environ.get("PYTHONPATH", "")
    with_library = f"{SOURCE}:{path}"

    assert (
        answer(home, "import", "--from", "iai-mcp-0.4", "--dry-run", PYTHONPATH=with_library)[
            "found"
        ]
        == 4
    )
    first = answer(home, "import", "--from", "iai-mcp-0.4", PYTHONPATH=with_library)
    second = answer(
        home,
        "import",
        "--from",
        "iai-mcp-0.4",
        place.removesuffix("/lancedb"),
        PYTHONPATH=with_library,
    )

    assert (first["inserted"], first["duplicates"], first["unreadable"]) == (4, 0, 0)
    assert (second["inserted"], second["duplicates"]) == (0, 4)
    assert tree(home) == before
    records = answer(home, "timeline", "--all", "--limit", "10")["records"]
    assert records[0]["text"] == "  The port of héron is 5433.\n"
    assert records[0]["ts"].startswith("2026-03-01T09:30:00")
    assert records[0]["valid_to"].startswith("2026-03-01T09:33:00")
    assert [each["role"] for each in records] == ["user", "assistant", "user", "user"]
    assert "original_store" not in answer(home, "import")
