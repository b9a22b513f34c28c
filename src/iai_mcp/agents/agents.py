"""Making, reading and changing agents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.agents.agent import (
    Agent,
    FromTemplate,
    Scratch,
    context_path_of,
    free_slug,
    numbered,
)
from iai_mcp.domain.agents.events import AgentCreated, AgentUpdated
from iai_mcp.domain.agents.templates import Template
from iai_mcp.domain.errors import Busy, IaiError, InvalidInput
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.agent_stores import AgentContextStore, SkillStore, TemplateStore
from iai_mcp.ports.agent_world import EventBus, IdGenerator


@dataclass(frozen=True, slots=True)
class NewAgent:
    """What a person says about a new agent. `context` None: the template's text, or nothing."""

    name: str
    profile_id: str
    context: str | None = None
    template: str | None = None
    synchronized: bool = False
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentChange:
    """What to change; None leaves a thing as it is."""

    name: str | None = None
    context: str | None = None
    profile_id: str | None = None
    synchronized: bool | None = None
    skills: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Agents:
    contexts: AgentContextStore
    templates: TemplateStore
    skills: SkillStore
    ids: IdGenerator
    events: EventBus

    def create(self, project: ProjectPath, new: NewAgent) -> Agent:
        """Context and manifest both land, or neither does."""
        persona, template = self._persona(project, new)
        for skill in new.skills:
            self.skills.get(project, skill)
        agent = Agent(
            id=self.ids.new(),
            name=new.name,
            context_path=context_path_of("pending"),
            profile_id=new.profile_id,
            origin=FromTemplate(template.id, template.version) if template else Scratch(),
            synchronized=new.synchronized,
            skills=tuple(sorted(set(new.skills))),
        )
        self.contexts.load_manifest(project)
        with self.contexts.exclusive(project):
            agent = self._land(project, agent, persona, template)
        self.events.publish(AgentCreated(agent.id, project.text))
        return agent

    def _persona(self, project: ProjectPath, new: NewAgent) -> tuple[str, Template | None]:
        if new.template is None:
            return _utf8(new.context or ""), None
        if new.context is not None:
            raise InvalidInput("give the agent a template or a context file, not both")
        template = self.templates.current(project, new.template)
        return template.text, template

    def _land(
        self, project: ProjectPath, agent: Agent, persona: str, template: Template | None
    ) -> Agent:
        manifest = self.contexts.load_manifest(project)
        taken = self.contexts.context_slugs(project) | {a.slug for a in manifest.entries}
        agent = replace(agent, context_path=context_path_of(free_slug(agent.name, taken)))
        if template is not None:
            self.templates.record(project, template)
        try:
            self.contexts.write_context(project, agent.context_path, persona)
            self.contexts.save_manifest(project, manifest.with_agent(agent))
        except IaiError:
            self.contexts.remove_context(project, agent.context_path)
            raise
        return agent

    def second(self, project: ProjectPath, reference: str) -> Agent:
        """Another agent like this one, with a name, a persona's file and an id of its own."""
        first = self.named(project, reference)
        persona = self.persona(project, first)
        with self.contexts.exclusive(project):
            taken = {agent.name for agent in self.list(project)}
            name = next(n for n in numbered(first.name) if n not in taken)
            like = replace(first, id=self.ids.new(), name=name, worktree=None)
            agent = self._land(project, like, persona, None)
        self.events.publish(AgentCreated(agent.id, project.text))
        return agent

    def list(self, project: ProjectPath) -> Sequence[Agent]:
        return self.contexts.load_manifest(project).entries

    def named(self, project: ProjectPath, reference: str) -> Agent:
        return self.contexts.load_manifest(project).named(reference)

    def persona(self, project: ProjectPath, agent: Agent) -> str:
        return self.contexts.read_context(project, agent.context_path)

    def update(self, project: ProjectPath, reference: str, change: AgentChange) -> Agent:
        """A new name leaves the context's file where it is: links and history stay whole."""
        if change.context is not None:
            _utf8(change.context)
        for skill in change.skills or ():
            self.skills.get(project, skill)
        self.named(project, reference)
        with self.contexts.exclusive(project):
            manifest = self.contexts.load_manifest(project)
            agent = _changed(manifest.named(reference), change)
            manifest = manifest.with_changed(agent)
            if change.context is not None:
                self.contexts.write_context(project, agent.context_path, change.context)
            self.contexts.save_manifest(project, manifest)
        self.events.publish(AgentUpdated(agent.id, project.text))
        return agent

    def delete_skill(
        self, project: ProjectPath, name: str, *, force: bool = False
    ) -> Sequence[Agent]:
        """Remove a skill; the agents it was taken from, which only `force` does.

        Raises:
            Busy: agents have it, and there is no other of its name: they could not be launched.
        """
        places = self.skills.places(project, name)
        users = [a for a in self.list(project) if name in a.skills] if len(places) == 1 else []
        if users and not force:
            names = ", ".join(agent.name for agent in users)
            raise Busy(
                f"the skill '{name}' is used by {names}: take it from them with 'iai-mcp agent edit "
                "A --remove-skill', or from all of them and delete it with --force"
            )
        for agent in users:
            kept = tuple(skill for skill in agent.skills if skill != name)
            self.update(project, agent.id, AgentChange(skills=kept))
        self.skills.delete(project, name)
        return users


def _changed(agent: Agent, change: AgentChange) -> Agent:
    skills = agent.skills if change.skills is None else tuple(sorted(set(change.skills)))
    synchronized = agent.synchronized if change.synchronized is None else change.synchronized
    return replace(
        agent,
        name=agent.name if change.name is None else change.name,
        profile_id=agent.profile_id if change.profile_id is None else change.profile_id,
        synchronized=synchronized,
        skills=skills,
    )


def _utf8(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("the context is not valid text: save it as UTF-8") from error
    return text
