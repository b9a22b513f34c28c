"""Following a template: shown first, and never over what somebody edited by hand."""

from dataclasses import dataclass, replace

from iai_mcp.domain.agents.agent import Agent, FromTemplate
from iai_mcp.domain.agents.events import AgentUpdated
from iai_mcp.domain.agents.templates import Comparison, SyncState, Template, compare
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.agent_stores import AgentContextStore, TemplateStore
from iai_mcp.ports.agent_world import EventBus


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    agent: Agent
    template: Template
    comparison: Comparison
    applied: bool
    reason: str


@dataclass(frozen=True, slots=True)
class SyncAgent:
    contexts: AgentContextStore
    templates: TemplateStore
    events: EventBus

    def compare(self, project: ProjectPath, reference: str) -> SyncOutcome:
        """What synchronizing would do. Changes nothing."""
        agent = self.contexts.load_manifest(project).named(reference)
        origin = agent.origin
        if not isinstance(origin, FromTemplate):
            raise InvalidInput(f"{agent.name} was not made from a template, so it follows none")
        template = self.templates.current(project, origin.id)
        base = self.templates.version_text(project, origin.id, origin.version)
        persona = self.contexts.read_context(project, agent.context_path)
        comparison = compare(base, persona, template.text)
        return SyncOutcome(agent, template, comparison, False, _advice(agent, comparison.state))

    def __call__(self, project: ProjectPath, reference: str, *, merge: bool = False) -> SyncOutcome:
        """Follow the template if nobody edited the persona; `merge` joins edits that agree."""
        self.compare(project, reference)
        with self.contexts.exclusive(project):
            outcome = self.compare(project, reference)
            text = outcome.comparison.result
            if text is None or not _may_apply(outcome, merge):
                return outcome
            agent = replace(outcome.agent, origin=_origin(outcome.template))
            self.templates.record(project, outcome.template)
            manifest = self.contexts.load_manifest(project).with_changed(agent)
            self.contexts.write_context(project, agent.context_path, text)
            self.contexts.save_manifest(project, manifest)
        self.events.publish(AgentUpdated(agent.id, project.text))
        return replace(
            outcome,
            agent=agent,
            applied=True,
            reason=f"now follows version {outcome.template.version}",
        )


def _origin(template: Template) -> FromTemplate:
    return FromTemplate(template.id, template.version)


def _may_apply(outcome: SyncOutcome, merge: bool) -> bool:
    if outcome.comparison.state is SyncState.FOLLOWS:
        return outcome.agent.synchronized or merge
    return outcome.comparison.state is SyncState.MERGES and merge


def _advice(agent: Agent, state: SyncState) -> str:
    match state:
        case SyncState.UP_TO_DATE:
            return "the template has nothing new"
        case SyncState.FOLLOWS if agent.synchronized:
            return "nobody edited the persona: the template's new text replaces it"
        case SyncState.FOLLOWS:
            return f"{agent.name} is not synchronized: --merge takes the new text all the same"
        case SyncState.MERGES:
            return "the persona was edited by hand: --merge keeps the edits and adds the template's"
        case SyncState.CONFLICTS:
            return "persona and template changed the same lines: bring them together by hand"
        case SyncState.BASE_LOST:
            return "what the agent started from is not on this machine: compare by hand"
