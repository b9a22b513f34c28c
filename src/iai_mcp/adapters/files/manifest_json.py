"""`.ideai/agents.json` as text and as a value, and back, without losing what others put there."""

from collections.abc import Mapping

from iai_mcp.adapters.files import json_text
from iai_mcp.domain.agents import (
    MANIFEST_VERSION,
    Agent,
    AgentManifest,
    FromTemplate,
    Origin,
    Scratch,
    first_repeated,
)
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.domain.foreign_text import quoted

_ENTRY_KEYS = {"agent_id", "name", "md_path", "profile_id", "origin", "synchronized", "skills"}


def parse(data: bytes, path: str) -> AgentManifest:
    """
    Raises:
        InvalidInput: with the file and the line of what can not be understood.
    """
    document = json_text.parse_object(data, path)
    version = document.get("version", MANIFEST_VERSION)
    if version != MANIFEST_VERSION or isinstance(version, bool):
        raise InvalidInput(
            f"{path} has version {quoted(str(version))} and this iai-mcp knows "
            f"{MANIFEST_VERSION}: update iai-mcp"
        )
    raw = json_text.objects_field(document, "entries", path)
    entries: list[Agent] = []
    for value in raw:
        try:
            entries.append(_agent(json_text.as_object(value)))
        except IaiError as error:
            line = json_text.line_of(data, "entries", len(entries))
            raise json_text.at_line(error, path, line) from error
    extra = {key: value for key, value in document.items() if key not in ("version", "entries")}
    try:
        return AgentManifest(tuple(entries), extra=extra)
    except IaiError as error:
        repeated = first_repeated(entries)
        line = json_text.line_of(data, "entries", repeated.number) if repeated else 1
        raise json_text.at_line(error, path, line) from error


def _agent(entry: Mapping[str, object]) -> Agent:
    return Agent(
        id=json_text.text_field(entry, "agent_id"),
        name=json_text.text_field(entry, "name"),
        context_path=json_text.text_field(entry, "md_path"),
        profile_id=json_text.text_field(entry, "profile_id"),
        origin=_origin(entry.get("origin", "scratch")),
        synchronized=json_text.flag_field(entry, "synchronized"),
        skills=json_text.texts_field(entry, "skills"),
        extra={key: value for key, value in entry.items() if key not in _ENTRY_KEYS},
    )


def _origin(value: object) -> Origin:
    if value == "scratch":
        return Scratch()
    if isinstance(value, dict) and isinstance(value.get("template"), dict):
        template = value["template"]
        return FromTemplate(
            json_text.text_field(template, "id"), json_text.whole_field(template, "version")
        )
    raise InvalidInput("""'origin' has to be "scratch" or {"template": {"id": …, "version": …}}""")


def dump(manifest: AgentManifest) -> bytes:
    entries = [entry_of(agent) for agent in manifest.entries]
    return json_text.dump({"version": manifest.version, "entries": entries, **manifest.extra})


def entry_of(agent: Agent) -> dict[str, object]:
    entry: dict[str, object] = {
        "agent_id": agent.id,
        "name": agent.name,
        "md_path": agent.context_path,
        "profile_id": agent.profile_id,
        "origin": origin_json(agent.origin),
        "synchronized": agent.synchronized,
    }
    if agent.skills:
        entry["skills"] = list(agent.skills)
    return {**entry, **agent.extra}


def origin_json(origin: Origin) -> object:
    if isinstance(origin, Scratch):
        return "scratch"
    return {"template": {"id": origin.id, "version": origin.version}}
