"""What an agent's launches leave for the next one to know, in the person's own data.

Never in the project: what lies there may have come with it, and whoever wrote it would choose which
files are removed, and which words reach a program's command line.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iai_mcp.domain.agents.host_wiring import NothingSaid, Resume, conversation_in, is_conversation
from iai_mcp.domain.agents.launch import LaunchRecord
from iai_mcp.domain.agents.lookup import is_id_prefix
from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.file_system import FilesBelow, FileSystem

# The hook that notes the conversation knows this place too (`capture/agent_session.py`).
_FOLDER = "launches"
_MOST_NOTES = 200  # one or two for each session that can still be resumed


def launch_key(project: ProjectPath, agent_id: str) -> str:
    """One agent in one project: clones of a repository have agents of the same ids."""
    return hashlib.sha256(f"{project}\0{agent_id}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Launches:
    files: FilesBelow
    user_data: Callable[[], str]

    def last(self, project: ProjectPath, agent_id: str) -> LaunchRecord | None:
        """The last launch of this agent by this person; None if there was none."""
        try:
            record = json.loads(self._own().read(_record(project, agent_id)))
            return LaunchRecord(str(record["session_id"]), tuple(map(str, record["files"])))
        except (NotFound, ValueError, LookupError, TypeError):
            return None  # damaged is as good as none: the next launch writes it anew

    def conversation(
        self, project: ProjectPath, agent_id: str, session: str | None = None
    ) -> Resume | NothingSaid | None:
        """What is known of the conversation of a session, by its id or a prefix, else of the last.

        None: the agent never ran here, or that session was none of its.

        Raises:
            InvalidInput: several of its sessions have this prefix.
        """
        record = self.last(project, agent_id)
        if record is None:
            return None
        notes = self._notes(project, agent_id)
        known = [record.session_id, *(line.partition(" ")[0] for line in notes.splitlines()[::-1])]
        wanted = known[0] if session is None else _chosen(session, known)
        if wanted is None:
            return None
        found = conversation_in(notes, wanted)
        if isinstance(found, NothingSaid):
            return found
        return Resume(found, wanted if is_conversation(wanted) else None)

    def _notes(self, project: ProjectPath, agent_id: str) -> str:
        try:
            return self._own().read(_note(project, agent_id)).decode(errors="replace")
        except NotFound:
            return ""

    def save(self, project: ProjectPath, agent_id: str, record: LaunchRecord) -> None:
        # Project and agent are there for people who look: nobody else could tell whose it is.
        fields = {
            "project": project.text,
            "agent_id": agent_id,
            "session_id": record.session_id,
            "files": record.files,
        }
        own = self._own()
        own.create_dir_all("")
        own.create_dir_all(_FOLDER)
        own.write(_record(project, agent_id), json.dumps(fields, indent=2).encode() + b"\n")
        notes = self._notes(project, agent_id).splitlines()
        if record.conversation is not None:
            notes.append(f"{record.session_id} {record.conversation} said")
        if record.conversation is not None or len(notes) > _MOST_NOTES:
            text = "".join(f"{line}\n" for line in notes[-_MOST_NOTES:])
            own.write(_note(project, agent_id), text.encode())

    def forget(self, project: ProjectPath, agent_id: str) -> None:
        for path in (_record(project, agent_id), _note(project, agent_id)):
            self._own().remove(path)

    def _own(self) -> FileSystem:
        return self.files(self.user_data())


def _chosen(session: str, known: Sequence[str]) -> str | None:
    begun = {each for each in known if is_id_prefix(session) and each.startswith(session)}
    if session in known or not begun:
        return session if session in known else None
    if len(begun) > 1:
        ids = ", ".join(sorted(begun)[:5])
        raise InvalidInput(f"'{session}' could be several sessions ({ids}): give an id")
    return begun.pop()


def _record(project: ProjectPath, agent_id: str) -> str:
    return f"{_FOLDER}/{launch_key(project, agent_id)}.json"


def _note(project: ProjectPath, agent_id: str) -> str:
    return f"{_FOLDER}/{launch_key(project, agent_id)}.conversation"
