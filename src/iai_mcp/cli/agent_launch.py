"""`iai-mcp agent launch` and `resume`: in the caller's process, with the caller's environment."""

import argparse
import shlex

from iai_mcp.agents.launch_plan import LaunchPlan, LaunchRequest
from iai_mcp.agents.live_sessions import live_sessions
from iai_mcp.api.agent_views import contents_view, plan_view
from iai_mcp.cli import agents_access, output
from iai_mcp.domain.agents.agent import Agent
from iai_mcp.domain.agents.terminal import TerminalSession, TerminalSize
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.workspace import Workspace


def launch(workspace: Workspace, arguments: argparse.Namespace) -> int:
    project = agents_access.project_of(workspace, arguments)
    attach = _attaches(arguments)
    trusted = _trusted(workspace, project, arguments)
    second = _second(workspace, project, arguments)
    request = LaunchRequest(
        project=project,
        agent=second.id if second else arguments.agent,
        size=_size(arguments),
        prompt=arguments.prompt,
        resume=arguments.action == "resume",
        resumed_session=getattr(arguments, "session", None),
        worktree=_worktree(workspace, project, second, arguments),
        trusted=trusted,
        rehearsal=arguments.print_only,
    )
    if arguments.print_only:
        plan = workspace.plan(request)
        result = {**plan_view(plan, None), "contents": contents_view(plan)}
        output.emit(result, _printed(plan), as_json=arguments.json)
        return 0
    try:
        plan, session = _started(workspace, request, arguments)
    except IaiError:
        if second is not None:
            workspace.delete(project, second.id)
        raise
    if attach:
        from iai_mcp.cli import session_attach
        from iai_mcp.remote import all_sessions

        return session_attach.attach(all_sessions.record_of(session.id, workspace.machine))
    text = (
        f"{plan.agent.name} runs in session {session.id}\n"
        f"see it with: iai-mcp session attach {session.id}"
    )
    output.emit(plan_view(plan, session), text, as_json=arguments.json)
    return 0


def _second(
    workspace: Workspace, project: ProjectPath, arguments: argparse.Namespace
) -> Agent | None:
    """Another agent like the one that is wanted, where that one runs and a second was asked for."""
    if arguments.action == "resume" or not arguments.again or arguments.print_only:
        return None
    first = workspace.agents.named(project, arguments.agent)
    if not live_sessions(workspace.sessions, project, first.id):
        return None
    return workspace.agents.second(project, first.id)


def _worktree(
    workspace: Workspace,
    project: ProjectPath,
    second: Agent | None,
    arguments: argparse.Namespace,
) -> str | None:
    """What was asked for; a second one has a worktree of its own where the first has one."""
    asked: str | None = getattr(arguments, "worktree", None)
    if asked is None and second is not None:
        return "" if workspace.agents.named(project, arguments.agent).worktree else None
    return asked


def _started(
    workspace: Workspace, request: LaunchRequest, arguments: argparse.Namespace
) -> tuple[LaunchPlan, TerminalSession]:
    plan = workspace.plan(request)
    for note in plan.notes:
        output.note(note)
    if arguments.trust:
        workspace.project_store.remember_trust(request.project, True)
    return plan, workspace.launch(plan)


def _attaches(arguments: argparse.Namespace) -> bool:
    """Attach on a terminal, else detach, unless told."""
    if arguments.attach and (arguments.json or not output.is_terminal()):
        raise InvalidInput("--attach needs a terminal: use --detach, and attach to it later")
    if arguments.attach or arguments.detach or arguments.json:
        return bool(arguments.attach)
    return output.is_terminal()


def _size(arguments: argparse.Namespace) -> TerminalSize:
    here = TerminalSize()
    if (shown_on := output.terminal_size()) is not None:
        columns, rows = shown_on
        here = TerminalSize(rows or here.rows, columns or here.cols)
    rows = here.rows if arguments.rows is None else arguments.rows
    return TerminalSize(rows, here.cols if arguments.cols is None else arguments.cols)


def _trusted(workspace: Workspace, project: ProjectPath, arguments: argparse.Namespace) -> bool:
    """What the person said about this project; asked once where there is somebody to ask.

    It comes before the plan: what a project says is read into a context, and anything written, only
    after that.

    Raises:
        InvalidInput: they said no, now or earlier.
    """
    if arguments.trust:
        return True
    answer = workspace.project_store.trust(project)
    if answer is None:
        answer = _asked(workspace, project, arguments)
    if answer is False and not arguments.print_only:
        raise InvalidInput(
            f"nothing was started: you do not trust the files in {project}. If you do by now, "
            "launch with --trust"
        )
    return answer is True


def _asked(
    workspace: Workspace, project: ProjectPath, arguments: argparse.Namespace
) -> bool | None:
    """The person's answer, which is remembered; None where nobody is asked."""
    agent = workspace.agents.named(project, arguments.agent)
    profile = workspace.profiles.named(agent.profile_id)
    asks = workspace.profiles.runtime.traits(profile).asks_trust
    if not asks or arguments.json or arguments.print_only or not output.is_terminal():
        return None
    trusted = output.answered(
        f"{profile.name} asks whether to trust a directory it has not seen. "
        f"Do you trust the files in {project}, for all agents you launch there?"
    )
    if trusted is None:
        raise InvalidInput("nothing was started: whether you trust its files was not answered")
    workspace.project_store.remember_trust(project, trusted)
    return trusted


def _printed(plan: LaunchPlan) -> str:
    lines = [f"in {plan.spec.cwd}"]
    lines += [f"  {name}={shlex.quote(value)} \\" for name, value in plan.spec.env.items()]
    lines += ["  " + shlex.join([plan.spec.command, *plan.spec.args])]
    for path, text in contents_view(plan).items():
        lines += ["", output.paint(path, "bold"), text.rstrip("\n")]
    if plan.typed:
        lines += ["", output.paint("typed into its terminal", "bold"), plan.typed.decode()]
    return "\n".join([*lines, *(f"\nnote: {note}" for note in plan.notes)])
