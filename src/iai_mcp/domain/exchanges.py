"""What a person says while the work on their request goes on belongs to the same exchange."""

from collections.abc import Mapping

_NOTED = ("answers", "rejected")  # in the meta of what is said within an exchange


def said_within(role: str, meta: Mapping[str, object]) -> bool:
    """Whether a person said it while the work on their prompt went on: to a question of the host, or in
    refusing a call. The exchange goes on, and what it comes to answers the prompt and this."""
    return role == "user" and any(name in meta for name in _NOTED)


def noted(meta: Mapping[str, object]) -> str:
    """The words that stand in what was noted of a turn: the question it answers, the call it refuses."""
    return "\n".join(said for name in _NOTED if isinstance(said := meta.get(name), str))


def is_answer_to(question: str, role: str, meta: Mapping[str, object]) -> bool:
    """Whether a person answered just this question of the host."""
    asked = meta.get("answers")
    return role == "user" and isinstance(asked, str) and question.strip().startswith(asked.strip())
