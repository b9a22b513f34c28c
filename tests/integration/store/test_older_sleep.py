"""A store of a version whose sleep derived memories opens, and keeps what was said."""

import pytest
from tests.support.answers import ask

from iai_mcp.adapters.sqlite import schema
from iai_mcp.store import MemoryStore

SAID = ("The port is 5432.", "Always use tabs.", "Please always use tabs.", "The port is 5433.")

# What the sleep of that version wrote about the memories 1 to 4.
INFERRED = """
INSERT INTO memories (id, at, session, role, tier, ts, speaker, host, agent_id, agent_name, branch,
    cue, meta, text, derived)
VALUES (zeroblob(16), 1, '', 'assistant', 'procedural', '1970-01-01T00:00:00Z', '', '', '', '', '',
    'tabs', '{}', 'Always use tabs. (said 2 times)', 1);
INSERT INTO derivations SELECT key, 'habit', 1 FROM memories WHERE derived = 1;
INSERT INTO sources SELECT d.key, s.key FROM memories AS d, memories AS s
    WHERE d.derived = 1 AND s.key IN (2, 3);
INSERT INTO habits VALUES (1, 'wish', 1);
INSERT INTO observations VALUES (1, 1, 2, 'tabs', 'Always use tabs.');
INSERT INTO suggestions VALUES (1, 4, 'value', 'differs', 0.9, 1);
INSERT INTO uses VALUES (1, 1, 1, 1);
INSERT INTO strengths VALUES (1, 1.0, 1.0, 1, 0.5);
INSERT INTO windows VALUES (1, NULL, 4, 'grouped');
INSERT INTO topic_members SELECT key, 1, 0, key FROM memories WHERE derived = 0;
INSERT INTO meta VALUES ('set:fading', '1');
INSERT INTO sleep_steps VALUES ('habits', '4', 1, 1, 1, '{}', '');
"""
GONE = {"derivations", "sources", "habits", "observations", "suggestions", "uses", "strengths"}


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> list[object]:
    """A store of that version with all it inferred; its memories."""
    before = schema.STEPS.index(schema.NO_INFERENCE)
    monkeypatch.setenv("IAI_MCP_STORE", f"{tmp_path}/data")
    with monkeypatch.context() as context:
        context.setattr(schema, "STEPS", schema.STEPS[:before])
        store = MemoryStore()
        for n, text in enumerate(SAID):
            ask(store, "memory_capture", text=text, session_id=f"s{n}")
        with store.database.writing() as db:
            db.execute(INFERRED)
        records: list[object] = ask(store, "memory_timeline")["records"]
        store.close()
    return records


def test_every_said_memory_stays_and_no_derived_one(older: list[object]) -> None:
    store = MemoryStore()
    try:
        with store.database.reading() as db:
            texts = [row[0] for row in db.execute("SELECT text FROM memories ORDER BY key")]
            tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
            broken = db.execute("PRAGMA foreign_key_check").fetchall()
        assert texts == list(SAID)
        assert (tables & GONE, broken) == (set(), [])
        assert ask(store, "memory_timeline")["records"] == older
        assert ask(store, "topology")["records"] == len(SAID)
        (topic,) = ask(store, "memory_topics")["topics"]
        assert topic["label"] == SAID[3]
        assert "fading" not in ask(store, "profile_get")["values"]
        hits = ask(store, "memory_recall", cue="which port")["hits"]
        assert {"The port is 5432.", "The port is 5433."} <= {hit["text"] for hit in hits}
        ask(store, "memory_contradict", id=hits[0]["id"], new_fact="The port is 6000.")
        ask(store, "project_privacy", project="/p", private=True)
        assert ask(store, "memory_forget", query="tabs")["forgotten"] == 2
        report = ask(store, "memory_consolidate", wait=True)
        assert report["state"] == "done"
        assert not any(step.get("failed") for step in report["steps"])
    finally:
        store.close()
