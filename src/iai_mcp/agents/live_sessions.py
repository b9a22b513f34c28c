"""What runs in a project, and that no agent runs twice."""

import shlex
from collections.abc import Sequence

from iai_mcp.domain.agents.agent import Agent
from iai_mcp.domain.agents.terminal import TerminalSession
from iai_mcp.domain.errors import Busy
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.pty import Sessions


def live_sessions(
    sessions: Sessions, project: ProjectPath, agent_id: str | None = None
) -> Sequence[TerminalSession]:
    """What runs in this project, of one agent or of all.

    Never by the agent's id alone: clones of a repository have agents of the same ids.
    """
    here = [s for s in sessions.all() if s.label.project == project.text and s.status.alive]
    return [s for s in here if agent_id in (None, s.label.agent_id)]


def require_at_rest(sessions: Sessions, project: ProjectPath, agent: Agent) -> None:
    """
    Raises:
        Busy: it runs. A second one would share its run directory, and type over its files.
    """
    running = live_sessions(sessions, project, agent.id)
    if running:
        raise Busy(
            f"{agent.name} runs already: 'iai-mcp session attach {running[-1].id}' shows it. For a "
            f"second one under a name of its own: 'iai-mcp agent launch {shlex.quote(agent.slug)} "
            "--again'"
        )
