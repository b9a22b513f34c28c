"""The moments of a session that hosts tell us about, each host by names of its own."""


class Moment:
    """One kind of event. Plain objects: `enum` costs three milliseconds in every hook."""

    START: "Moment"
    PROMPT: "Moment"
    STOP: "Moment"
    SUBAGENT_STOP: "Moment"
    COMPACT: "Moment"
    END: "Moment"
    ATTENTION: "Moment"
    TOOL_USED: "Moment"

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


Moment.START = Moment("start")
Moment.PROMPT = Moment("prompt")
Moment.STOP = Moment("stop")
Moment.SUBAGENT_STOP = Moment("subagent stop")
Moment.COMPACT = Moment("compact")
Moment.END = Moment("end")
Moment.ATTENTION = Moment("attention")
Moment.TOOL_USED = Moment("tool used")

# Written without hyphens, underscores and capitals.
_NAMES = {
    "sessionstart": Moment.START,
    "userpromptsubmit": Moment.PROMPT,
    "userpromptsubmitted": Moment.PROMPT,
    "beforesubmitprompt": Moment.PROMPT,
    "beforeagent": Moment.PROMPT,
    "prompt": Moment.PROMPT,
    "stop": Moment.STOP,
    "agentstop": Moment.STOP,
    "afteragent": Moment.STOP,
    "idle": Moment.STOP,
    "subagentstop": Moment.SUBAGENT_STOP,
    "precompact": Moment.COMPACT,
    "postcompact": Moment.COMPACT,
    "precompress": Moment.COMPACT,
    "sessionend": Moment.END,
    "notification": Moment.ATTENTION,
    "permissionrequest": Moment.ATTENTION,
    "permission": Moment.ATTENTION,
    "posttooluse": Moment.TOOL_USED,
    "aftertool": Moment.TOOL_USED,
}


def moment_of(event: str) -> Moment | None:
    """Which moment `event` is, or None for one that is no concern of ours."""
    return _NAMES.get(event.replace("-", "").replace("_", "").lower())
