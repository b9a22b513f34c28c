"""Reads the agents that sessions belong to, from the manifests of their projects."""

from collections.abc import Sequence
from functools import partial

from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.terminal.sessions import SessionAgent


def agents_of(records: Sequence[SessionRecord]) -> list[SessionAgent]:
    """Every agent of these projects. One that is in no manifest has the name of its last session."""
    owned = [record for record in records if record.label.agent_id]
    manifests = {record.label.project: record for record in owned}
    known = [agent for record in manifests.values() for agent in _manifest(record)]
    ids = {(agent.project, agent.id) for agent in known}
    gone = {
        (record.label.project, record.label.agent_id): record
        for record in owned
        if (record.label.project, record.label.agent_id) not in ids
    }
    return known + [
        SessionAgent(agent_id or "", "", record.label.agent_name or "", project)
        for (project, agent_id), record in gone.items()
    ]


def _manifest(record: SessionRecord) -> list[SessionAgent]:
    """Nothing where the manifest can not be read: its sessions are still found by id and name."""
    place = record.label.project
    if not place or record.status == "unreachable":
        return []
    # Late: this module travels to other machines, and the reader of manifests does not.
    from iai_mcp.adapters.files.agent_contexts import FileAgentContextStore

    try:
        project = ProjectPath(place)
        if record.machine is None:
            store = FileAgentContextStore(LocalFileSystem)
            entries = look_at(place, lambda: store.load_manifest(project)).entries
        else:
            from iai_mcp.remote.all_machines import machine_of
            from iai_mcp.remote.ports import FarFiles

            far = FileAgentContextStore(partial(FarFiles, machine_of(record)))
            entries = far.load_manifest(project).entries
    except IaiError:
        return []
    return [SessionAgent(agent.id, agent.slug, agent.name, place) for agent in entries]
