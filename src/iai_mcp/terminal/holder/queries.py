"""Answers what programs ask their terminal while nobody is attached to answer.

Some wait seconds for it at their start, some give up. Only what every terminal says is
answered; no answer to the rest means "I can not do that", which is true until somebody attaches.
"""

_ANSWERS = (
    (b"\x1b[c", b"\x1b[?62;22c"),  # what are you: a VT220 with colours
    (b"\x1b[0c", b"\x1b[?62;22c"),
    (b"\x1b[5n", b"\x1b[0n"),  # are you well
    (b"\x1b[6n", b"\x1b[1;1R"),  # where is the cursor: nobody has drawn it yet
)


def answer(text: bytes) -> bytes:
    """What a plain terminal types back after printing `text`, in the order of the questions."""
    if b"\x1b[" not in text:
        return b""
    found = []
    for question, reply in _ANSWERS:
        at = text.find(question)
        while at >= 0:
            found.append((at, reply))
            at = text.find(question, at + len(question))
    found.sort()
    return b"".join(reply for _, reply in found)
