"""`ProfileStore` in `<user data>/profiles.json`."""

from collections.abc import Callable, Mapping, Sequence

from iai_mcp.adapters.files import json_text
from iai_mcp.adapters.files.user_document import UserDocument, put, without
from iai_mcp.domain.agent_profiles import RUN_DIR_TEMPLATE, AgentProfile, parse_injection
from iai_mcp.domain.errors import NotFound
from iai_mcp.ports.file_system import FilesBelow


class FileProfileStore:
    def __init__(self, files: FilesBelow, user_data: Callable[[], str]) -> None:
        self._document = UserDocument(files, user_data, "profiles.json")

    def list(self) -> Sequence[AgentProfile]:
        return self._document.entries("profiles", _profile)

    def save(self, profile: AgentProfile) -> None:
        self.list()
        self._document.change(
            lambda old: {
                **old,
                "profiles": put(
                    json_text.objects_field(old, "profiles", ""), profile_json(profile)
                ),
            }
        )

    def delete(self, profile_id: str) -> None:
        def edit(old: dict[str, object]) -> Mapping[str, object]:
            left = without(json_text.objects_field(old, "profiles", ""), profile_id)
            if left is None:
                raise NotFound(
                    f"you have no profile '{profile_id}': 'iai-mcp profile list' shows them"
                )
            return {**old, "profiles": left}

        self._document.change(edit)

    def is_configured(self) -> bool:
        return self._document.read().get("configured") is True

    def default_profile(self) -> str | None:
        named = self._document.read().get("default_profile")
        return named if isinstance(named, str) else None

    def mark_configured(self, default_profile: str | None = None) -> None:
        chosen = {} if default_profile is None else {"default_profile": default_profile}
        self._document.change(lambda old: {**old, "configured": True, **chosen})


def _profile(entry: Mapping[str, object]) -> AgentProfile:
    return AgentProfile(
        id=json_text.text_field(entry, "id"),
        name=json_text.text_field(entry, "name"),
        command=json_text.text_field(entry, "command"),
        injection=parse_injection(json_text.text_field(entry, "injection")),
        args=json_text.texts_field(entry, "args"),
        detect=json_text.optional_text(entry, "detect"),
        cwd_template=json_text.optional_text(entry, "cwd_template") or RUN_DIR_TEMPLATE,
        host=json_text.optional_text(entry, "host"),
        install=json_text.optional_text(entry, "install"),
    )


def profile_json(profile: AgentProfile) -> dict[str, object]:
    return {
        "id": profile.id,
        "name": profile.name,
        "command": profile.command,
        "args": list(profile.args),
        "injection": str(profile.injection),
        "detect": profile.detect,
        "cwd_template": profile.cwd_template,
        "host": profile.host,
        "install": profile.install,
    }
