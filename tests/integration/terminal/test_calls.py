"""Sessions over JSON-RPC: the same answers as the command line."""

import base64
from pathlib import Path

import pytest
from tests.terminal_kit import Desk

from iai_mcp.api.table import call
from iai_mcp.domain.agents.terminal import SessionLabel
from iai_mcp.domain.errors import InvalidInput, MissingParam, NotFound
from iai_mcp.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(desk: Desk) -> Workspace:
    assert desk.home.exists()
    return open_workspace()


def echoing(desk: Desk, project: Path | None = None) -> str:
    label = SessionLabel(agent_id="an-agent", project=str(project)) if project else None
    session = desk.start(
        "sh", "-c", "echo ready; while read x; do echo heard $x; done", label=label
    )
    with desk.watching(session) as watcher:
        watcher.until(b"ready")
    return session


def test_a_session_is_listed_sent_to_read_and_ended(desk: Desk, workspace: Workspace) -> None:
    session = echoing(desk)

    listed = call(workspace, "sessions_list", {})["sessions"]
    sent = call(workspace, "sessions_send", {"session": session, "text": "hello"})
    with desk.watching(session) as watcher:
        watcher.until(b"heard hello")
    logs = call(workspace, "sessions_logs", {"session": session, "lines": 1})
    killed = call(workspace, "sessions_kill", {"session": session})
    waited = call(workspace, "sessions_wait", {"session": session, "until": "exited"})

    assert isinstance(listed, list)
    assert [entry["id"] for entry in listed] == [session]
    assert sent["delivered"] is True
    assert logs["text"] == "heard hello\n"
    assert (killed["exit_code"], waited["exit_code"]) == (129, 129)
    assert call(workspace, "sessions_prune", {}) == {"pruned": [session]}


def test_bytes_are_typed_as_they_are_and_the_size_is_set(desk: Desk, workspace: Workspace) -> None:
    session = desk.start("sh", "-c", "read x; stty size; read x; echo got $x; read x")
    data = base64.b64encode(b"\xe4\xb8\xad\r").decode()

    call(workspace, "sessions_resize", {"session": session, "rows": 33, "cols": 99})
    call(workspace, "sessions_write", {"session": session, "text": "\r"})
    call(workspace, "sessions_write", {"session": session, "data": data})

    with desk.watching(session) as watcher:
        assert b"33 99" in watcher.until("got 中".encode())


def test_a_broadcast_needs_a_project_and_reaches_its_agents(
    desk: Desk, workspace: Workspace
) -> None:
    session = echoing(desk, desk.home)

    sent = call(workspace, "sessions_broadcast", {"project": str(desk.home), "text": "all"})["sent"]

    assert isinstance(sent, list)
    assert [result["session"] for result in sent] == [session]
    with pytest.raises(MissingParam):
        call(workspace, "sessions_broadcast", {"text": "all"})


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("sessions_wait", {"until": "happy"}),
        ("sessions_resize", {"rows": 0, "cols": 80}),
        ("sessions_write", {"data": "not base64!"}),
        ("sessions_logs", {"lines": "all"}),
    ],
)
def test_wrong_params_are_refused(
    desk: Desk, workspace: Workspace, method: str, params: dict[str, object]
) -> None:
    session = desk.start("cat")

    with pytest.raises(InvalidInput):
        call(workspace, method, {"session": session, **params})


def test_an_unknown_session_is_not_found(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        call(workspace, "sessions_kill", {"session": "nobody"})
