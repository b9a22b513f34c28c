"""A memory daemon that is up or down as told."""


class FakeSharedMemory:
    def __init__(self, *, up: bool = True, remembered: str | None = None) -> None:
        self.up = up
        self.remembered = remembered
        self.asked: list[tuple[str, str, str]] = []

    def is_up(self) -> bool:
        return self.up

    def session_start(self, project: str, agent_id: str, session_id: str) -> str | None:
        self.asked.append((project, agent_id, session_id))
        return self.remembered if self.up else None
