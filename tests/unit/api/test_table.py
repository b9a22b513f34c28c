"""One table says of every method who may call it and what a call of it means to the daemon."""

import inspect

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

    assert quiet == {"events_query", "topology", "doctor", "methods"}
    assert table.is_activity("agents_list")
    assert table.is_activity("there is no such method")


def test_a_page_may_look_care_for_memories_and_end_sessions_and_nothing_else() -> None:
    every = {**table.memory_methods(), **table.agent_methods()}
    shows = {
        *("memory_recall", "memory_timeline", "memory_show", "memory_calendar", "injections"),
        *("events_query", "topology", "doctor", "sleep_report", "profile_get"),
        *("sessions_list", "sessions_logs", "agents_list", "agents_show", "projects_list"),
        *("profiles_list", "templates_list", "templates_show", "skills_list", "skills_show"),
    }
    changes = {"memory_forget", "memory_pin", "memory_contradict", "sessions_kill"}

    assert {name for name, method in every.items() if method.page} == shows | changes
