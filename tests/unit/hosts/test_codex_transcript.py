"""Codex's rollouts become turns, each once, whichever side of the file says it."""

import json
from collections.abc import Mapping
from pathlib import Path

from iai_mcp import zstd
from iai_mcp.hosts.transcripts import open_transcript, read_turns


def item(role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": payload}


def shown(kind: str, text: str) -> dict[str, object]:
    payload = {"type": kind, "message": text}
    return {"timestamp": "2026-03-01T10:00:01Z", "type": "event_msg", "payload": payload}


META = {
    "timestamp": "2026-03-01T09:59:59Z",
    "type": "session_meta",
    "payload": {"id": "s-1", "cwd": "/home/ann/shop", "git": {"branch": "main"}},
}


def text_of(*lines: Mapping[str, object]) -> str:
    return "".join(json.dumps(one) + "\n" for one in lines)


def said(path: Path) -> list[tuple[object, object, object]]:
    return [(e["role"], e["text"], e["occurrence"]) for e in read_turns(str(path), "codex")[0]]


def test_words_on_both_sides_are_one_turn(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(
        text_of(
            META,
            item("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
            item("user", "yes"),
            shown("user_message", "yes"),
            shown("agent_message", "done"),
            item("assistant", "done"),
            item("user", "yes"),
            shown("user_message", "yes"),
        ),
        encoding="utf-8",
    )

    assert said(path) == [("user", "yes", 0), ("assistant", "done", 0), ("user", "yes", 1)]


def test_words_between_two_envelopes_of_the_same_name_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    envelope = "<some_context>x</some_context>"
    words = f"{envelope}\nrename both\n{envelope}"
    path.write_text(text_of(META, item("user", f"{envelope}\n{envelope}"), item("user", words)))

    assert said(path) == [("user", words, 0)]


def test_a_rollout_tells_which_repository_it_was_about_and_no_token(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    remote = "https://ann:a-token@github.com/ann/shop.git"
    meta = {"id": "s-1", "cwd": "/gone", "git": {"branch": "main", "repository_url": remote}}
    path.write_text(text_of({**META, "payload": meta}, item("user", "go")))

    ((event,), _, _) = read_turns(str(path), "codex")

    assert event["repository"] == "https://github.com/ann/shop.git"


def test_either_side_alone_gives_the_same_turns(tmp_path: Path) -> None:
    items, events = tmp_path / "rollout-i.jsonl", tmp_path / "rollout-e.jsonl"
    items.write_text(text_of(META, item("user", "go"), item("assistant", "ok")), encoding="utf-8")
    events.write_text(
        text_of(META, shown("user_message", "go"), shown("agent_message", "ok")), encoding="utf-8"
    )

    assert said(items) == said(events) == [("user", "go", 0), ("assistant", "ok", 0)]


def test_the_join_holds_across_two_readings(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(text_of(META, shown("agent_message", "done")), encoding="utf-8")
    before = open_transcript(str(path))
    assert [e["text"] for e in before] == ["done"]

    with path.open("a", encoding="utf-8") as file:
        file.write(text_of(item("assistant", "done"), item("user", "next")))
    after = open_transcript(str(path), start=before.end, carry=before.carry)

    assert [e["text"] for e in after] == ["next"]
    assert (after.session_id, after.cwd) == ("s-1", "/home/ann/shop")


def test_what_the_program_itself_puts_in_is_not_conversation(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    tool = {"type": "function_call", "name": "shell", "arguments": "{}"}
    path.write_text(
        text_of(
            META,
            item("developer", "<permissions instructions>…"),
            item(
                "user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>be brief</INSTRUCTIONS>"
            ),
            item("user", "<turn_aborted>\nstopped\n</turn_aborted>"),
            item("user", "<b>keep</b> this html"),
            {"timestamp": "t", "type": "response_item", "payload": tool},
            {"timestamp": "t", "type": "compacted", "payload": {"message": "summary"}},
            {"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count"}},
            {"timestamp": "t", "type": "from_the_future", "payload": {}},
        ),
        encoding="utf-8",
    )

    events, skipped, _ = read_turns(str(path))

    assert [e["text"] for e in events if e["role"] != "summary"] == ["<b>keep</b> this html"]
    assert skipped == 1


def test_newer_files_show_completed_items(tmp_path: Path) -> None:
    def completed(kind: str, text: str) -> dict[str, object]:
        content = [{"type": "text", "text": text}]
        payload = {"type": "item_completed", "item": {"type": kind, "content": content}}
        return {"timestamp": "2026-03-01T10:00:01Z", "type": "event_msg", "payload": payload}

    path = tmp_path / "rollout-1.jsonl"
    path.write_text(
        text_of(
            META,
            item("user", "port?"),
            completed("UserMessage", "port?"),
            completed("AgentMessage", "5433"),
            item("assistant", "5433"),
            completed("Reasoning", "hm"),
        ),
        encoding="utf-8",
    )

    assert said(path) == [("user", "port?", 0), ("assistant", "5433", 0)]


def test_files_of_early_versions_have_bare_items(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    bare = item("user", "hello")["payload"]
    assert isinstance(bare, dict)
    header = {"id": "old-1", "timestamp": "2025-06-01T00:00:00Z", "instructions": None}
    path.write_text(text_of(header, {"record_type": "state"}, bare), encoding="utf-8")

    reading = open_transcript(str(path))

    assert [e["text"] for e in reading] == ["hello"]
    assert (reading.session_id, reading.skipped) == ("old-1", 0)


def test_cold_files_are_compressed_and_cut_ones_give_what_they_have(tmp_path: Path) -> None:
    lines = text_of(META, *(item("user", f"turn {n} {'y' * 999}") for n in range(400)))
    packed = zstd.compress(lines.encode())
    whole, cut = tmp_path / "rollout-1.jsonl.zst", tmp_path / "rollout-2.jsonl.zst"
    whole.write_bytes(packed)
    cut.write_bytes(packed[: len(packed) // 2])

    assert len(read_turns(str(whole))[0]) == 400
    events, skipped, _ = read_turns(str(cut))
    assert len(events) < 400
    assert skipped <= 1


def test_a_subagents_rollout_names_its_agent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "s-0"}}}
    meta = {"id": "s-2", "cwd": "/x", "source": source, "agent_nickname": "Scout"}
    path = tmp_path / "rollout-1.jsonl"
    header = {"timestamp": "t", "type": "session_meta", "payload": meta}
    path.write_text(text_of(header, item("assistant", "hi")), encoding="utf-8")

    (event,) = read_turns(str(path))[0]

    assert (event["agent_id"], event["agent_name"]) == ("s-2", "Scout")


SKILL = "<skill>\n<name>review</name>\n<path>/home/ann/.codex/skills/review/SKILL.md</path>\n# Review\nRead.\n</skill>"


def test_a_skill_that_codex_puts_on_the_persons_side_is_not_said_by_them(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(
        text_of(
            META,
            item("user", "$review the cart"),
            shown("user_message", "$review the cart"),
            item("user", SKILL),
            item("assistant", "two findings"),
            shown("agent_message", "two findings"),
        ),
        encoding="utf-8",
    )

    assert said(path) == [("user", "$review the cart", 0), ("assistant", "two findings", 0)]


def test_text_that_no_event_shows_was_injected_whatever_it_looks_like(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(
        text_of(
            META,
            item("user", "These are the rules of the house."),
            item("user", "go"),
            shown("user_message", "go"),
            item("user", "Here is the file you mentioned."),
            item("assistant", "done"),
            item("user", "and again"),
            item("user", "The file once more."),
            shown("user_message", "and again"),
            item("assistant", "done again"),
        ),
        encoding="utf-8",
    )

    assert [text for _, text, _ in said(path)] == ["go", "done", "and again", "done again"]


def test_a_prompt_without_an_answer_is_kept_and_is_one_turn_when_its_event_comes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(text_of(META, item("user", "go")), encoding="utf-8")
    first = open_transcript(str(path), "codex")
    assert [event["text"] for event in first] == ["go"]

    with path.open("a", encoding="utf-8") as file:
        file.write(
            text_of(shown("user_message", "go"), item("user", SKILL), item("assistant", "ok"))
        )
    second = open_transcript(str(path), "codex", start=first.end, carry=first.carry)

    assert [event["text"] for event in second] == ["ok"]


def test_a_skill_in_a_file_without_events_is_not_said_by_the_person(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(text_of(META, item("user", "go"), item("user", SKILL), item("assistant", "ok")))

    assert [text for _, text, _ in said(path)] == ["go", "ok"]


def test_a_subagent_is_asked_by_its_agent_and_not_by_a_person(tmp_path: Path) -> None:
    meta = {"id": "s-2", "cwd": "/x", "source": {"subagent": "review"}}
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(
        text_of(
            {**META, "payload": meta}, item("user", "Review the diff."), item("assistant", "ok")
        )
    )

    assert [role for role, _, _ in said(path)] == ["assistant", "assistant"]
