"""What people answered to Claude Code's own questions (`AskUserQuestion`).

`toolUseResult` has the answers and the notes to them. Where it is missing, the words of the result tell
them: `"question"="answer" selected preview:\\n… user notes: …`, one after the other. Who would rather talk
about the questions is written down as refusing them, with the answers given so far as a list.
"""

from iai_mcp.hosts.turns import Record, text_at
from iai_mcp.hosts.work import Call

Answers = list[tuple[str, str]]

_ENDS = (". You can now continue", ". Read the answers", ". Continue with the provided answers")
_PREVIEW = " selected preview:\n"
_NOTES = (" user notes: ", " notes: ")
_NOTHING_CHOSEN = "(no option selected)"
# What Claude Code writes in the person's place.
_INSTEAD = (
    "The user wants to clarify these questions",
    "The user has indicated they have provided",
)
_LISTED, _LISTED_NOTES = "\n  Answer: ", "\n  User notes: "


def answers(call: Call, said: str, more: object) -> Answers:
    """The questions that were answered, with the answers, in the order asked."""
    if isinstance(more, dict) and isinstance(more.get("answers"), dict):
        return _told(more["answers"], more.get("annotations"))
    return _read(said, _questions(call))


def answered_in_refusing(call: Call | None, words: str) -> Answers | None:
    """The answers given before somebody asked to talk about the questions; None where a person speaks."""
    if call is None or not call.is_question or not words.startswith(_INSTEAD):
        return None
    found: Answers = []
    for question, part in _parts(words, _questions(call), '- "', '"'):
        answer, _, notes = part.removeprefix(_LISTED).partition(_LISTED_NOTES)
        if part.startswith(_LISTED):
            found.append((question, _joined(answer, notes)))
    return found


def _questions(call: Call) -> list[str]:
    asked = call.input.get("questions")
    found = (text_at(one, "question") for one in asked) if isinstance(asked, list) else ()
    return [question for question in found if question]


def _told(given: Record, annotations: object) -> Answers:
    noted = annotations if isinstance(annotations, dict) else {}
    found: Answers = []
    for question, answer in given.items():
        chosen = answer if isinstance(answer, list) else [answer]
        words = ", ".join(one for one in chosen if isinstance(one, str))
        found.append((question, _joined(words, text_at(noted, question, "notes") or "")))
    # Behind all others: a question's number is part of its identity.
    only_noted = [question for question in noted if question not in given]
    found += [(question, text_at(noted, question, "notes") or "") for question in only_noted]
    return [(question, words) for question, words in found if words]


def _read(said: str, questions: list[str]) -> Answers:
    end = max(said.rfind(mark) for mark in _ENDS)
    found: Answers = []
    for question, part in _parts(said if end < 0 else said[:end], questions, '"', '"='):
        answer, notes = _without_preview(part.removesuffix(", "))
        answer = answer.removeprefix(_NOTHING_CHOSEN)
        if answer.startswith('"'):
            answer = answer[1:].removesuffix('"')
        if words := _joined(answer, notes):
            found.append((question, words))
    return found


def _parts(said: str, questions: list[str], before: str, behind: str) -> Answers:
    """What stands behind each question, up to the next: answers may hold any signs, questions are known."""
    places: list[tuple[int, int, str]] = []
    at = 0
    for question in questions:
        mark = f"{before}{question}{behind}"
        found = said.find(mark, at)
        if found >= 0:
            at = found + len(mark)
            places.append((found, at, question))
    ends = [place[0] for place in places[1:]] + [len(said)]
    return [
        (question, said[start:end].rstrip("\n"))
        for (_, start, question), end in zip(places, ends, strict=True)
    ]


def _without_preview(part: str) -> tuple[str, str]:
    """An answer and the notes to it; what the chosen option looks like is left out."""
    answer, shown, rest = part.partition(_PREVIEW)
    for mark in _NOTES:
        before, found, notes = (rest if shown else answer).rpartition(mark)
        if found and (shown or before.endswith(('"', _NOTHING_CHOSEN))):
            return (answer if shown else before), notes
    return answer, ""


def _joined(answer: str, notes: str) -> str:
    return "\n".join(filter(None, (answer.strip(), notes.strip())))
