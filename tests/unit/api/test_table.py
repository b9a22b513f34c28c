"""One table says of every method who may call it and what a call of it means to the daemon."""

import inspect
from typing import Any

from iai_mcp.api import table
from iai_mcp.protocol.tools import NAMES


def test_every_tool_that_hosts_are_shown_has_a_method_behind_it_and_no_other_has() -> None:
    behind = {method.tool for method in table.memory_methods().values() if method.tool}

    assert behind == NAMES
    assert not [method for method in table.agent_methods().values() if method.tool]


def test_no_name_is_taken_twice() -> None:
    assert not table.memory_methods().keys() & table.agent_methods().keys()
    modules = {inspect.getmodule(one.answer) for one in table.agent_methods().values()}
    listed = [one for module in modules for one in getattr(module, "METHODS", ())]
    assert len(listed) == len(table.agent_methods())


def test_watching_does_not_keep_the_daemon_awake_and_everything_else_does() -> None:
    quiet = {name for name in table.memory_methods() if not table.is_activity(name)}

    sharing = {"share_list", "share_status", "share_members"}
    assert quiet == {"events_query", "topology", "doctor", "methods", "pace"} | sharing
    assert table.is_activity("agents_list")
    assert table.is_activity("there is no such method")


def test_a_page_types_into_no_terminal_and_takes_nothing_in_or_out_past_its_gate() -> None:
    every: dict[str, table.Method[Any]] = {**table.memory_methods(), **table.agent_methods()}
    kept_from_pages = {
        *("memory_capture", "capture_events", "import_records", "export_page", "backup"),
        *("sessions_write", "sessions_broadcast", "sessions_resize"),
        *("agents_delete", "profiles_add", "profiles_edit", "projects_remove"),
    }

    assert kept_from_pages <= every.keys()
    assert not [name for name in kept_from_pages if every[name].page]
    assert every["sessions_send"].types
