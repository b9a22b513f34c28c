"""The person's answers to Claude Code's own questions (`AskUserQuestion`).

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


def answers(call: Call, output: str, more: object) -> Answers:
    """The questions that were answered, with the answers, in the order asked."""
    if isinstance(more, dict) and isinstance(more.get("answers"), dict):
        return _told(more["answers"], more.get("annotations"))
    return _read(output, _questions(call))


def answered_in_refusing(call: Call | None, words: str) -> Answers | None:
    """The answers given before somebody asked to talk about the questions; None where a person speaks."""
    if call is None or not call.is_question or not words.startswith(_INSTEAD):
        return None
    pairs: Answers = []
    for question, part in _parts(words, _questions(call), '- "', '"'):
        answer, _, notes = part.removeprefix(_LISTED).partition(_LISTED_NOTES)
        if part.startswith(_LISTED):
            pairs.append((question, _joined(answer, notes)))
    return pairs


def _questions(call: Call) -> list[str]:
    asked = call.input.get("questions")
    texts = (text_at(question, "question") for question in asked) if isinstance(asked, list) else ()
    return [question for question in texts if question]


def _told(given: Record, annotations: object) -> Answers:
    noted = annotations if isinstance(annotations, dict) else {}
    pairs: Answers = []
    for question, answer in given.items():
        chosen = answer if isinstance(answer, list) else [answer]
        words = ", ".join(option for option in chosen if isinstance(option, str))
        pairs.append((question, _joined(words, text_at(noted, question, "notes") or "")))
    # Behind all others: a question's number is part of its identity.
    only_noted = [question for question in noted if question not in given]
    pairs += [(question, text_at(noted, question, "notes") or "") for question in only_noted]
    return [(question, words) for question, words in pairs if words]


def _read(output: str, questions: list[str]) -> Answers:
    end = max(output.rfind(mark) for mark in _ENDS)
    pairs: Answers = []
    for question, part in _parts(output if end < 0 else output[:end], questions, '"', '"='):
        answer, notes = _without_preview(part.removesuffix(", "))
        answer = answer.removeprefix(_NOTHING_CHOSEN)
        if answer.startswith('"'):
            answer = answer[1:].removesuffix('"')
        if words := _joined(answer, notes):
            pairs.append((question, words))
    return pairs


def _parts(output: str, questions: list[str], before: str, behind: str) -> Answers:
    """What stands behind each question, up to the next: answers may hold any signs, questions are known."""
    places: list[tuple[int, int, str]] = []
    at = 0
    for question in questions:
        mark = f"{before}{question}{behind}"
        start = output.find(mark, at)
        if start >= 0:
            at = start + len(mark)
            places.append((start, at, question))
    ends = [place[0] for place in places[1:]] + [len(output)]
    return [
        (question, output[start:end].rstrip("\n"))
        for (_, start, question), end in zip(places, ends, strict=True)
    ]


def _without_preview(part: str) -> tuple[str, str]:
    """An answer and the notes to it; what the chosen option looks like is left out."""
    answer, shown, rest = part.partition(_PREVIEW)
    for mark in _NOTES:
        before, separator, notes = (rest if shown else answer).rpartition(mark)
        if separator and (shown or before.endswith(('"', _NOTHING_CHOSEN))):
            return (answer if shown else before), notes
    return answer, ""


def _joined(answer: str, notes: str) -> str:
    return "\n".join(filter(None, (answer.strip(), notes.strip())))
