"""What a recall was asked, read from its parameters once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from iai_mcp.domain.errors import EmptyCue, InvalidInput
from iai_mcp.memory.params import Params
from iai_mcp.ports.embedder import Matrix

_DEFAULT_HITS = 10
_DEFAULT_BUDGET = 1500
_MOST_CONTEXT = 20
_LONGEST_LANGUAGE = 16
# What a cue says beyond this decides nothing, and others would wait for it to be read.
_LONGEST_CUE = 10_000  # characters


@dataclass(frozen=True, slots=True)
class Asking:
    """`limit`, `budget` and `context` are bounds of the answer; `now` is the caller's clock."""

    cue: str
    limit: int
    budget: int
    context: int
    by_session: bool
    fold: bool  # whether what says the same is one hit
    explain: bool
    language: str | None
    now: datetime
    as_of: int | None  # microseconds
    vector: Matrix | None


def asking(params: Params, now: int) -> Asking:
    """
    Raises:
        MissingParam, EmptyCue, InvalidInput: what was asked can not be answered.
    """
    cue = params.text("cue")
    if not cue.strip():
        raise EmptyCue("the cue is blank: say what you want to recall")
    group_by = params.text("group_by", "")
    if group_by not in ("", "session"):
        raise InvalidInput("group_by can only be 'session'")
    as_of = params.instant("as_of")
    return Asking(
        cue=cue.strip()[:_LONGEST_CUE],
        limit=params.integer("k", _DEFAULT_HITS, 1, 100),
        budget=params.integer("budget_tokens", _DEFAULT_BUDGET, 1, 1_000_000),
        context=params.integer("context", 0, 0, _MOST_CONTEXT),
        by_session=group_by == "session",
        fold=params.flag("fold", True),
        explain=params.flag("explain"),
        language=params.text("language", "")[:_LONGEST_LANGUAGE].partition("-")[0].lower() or None,
        now=_clock(params, now),
        as_of=None if as_of is None else as_of.micros,
        vector=_vector(params),
    )


def _clock(params: Params, now: int) -> datetime:
    """The caller's clock if given, with its own offset; else this machine's, in its time zone."""
    given = params.instant("now")
    if given is None:
        return datetime.fromtimestamp(now / 1e6).astimezone()
    moment = datetime.fromisoformat(given.text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _vector(params: Params) -> Matrix | None:
    raw = params.raw("cue_embedding")
    if raw is None:
        return None
    if not isinstance(raw, list) or not raw or not all(map(_number, raw)):
        raise InvalidInput("cue_embedding must be a list of numbers")
    try:
        vector = np.array(raw, dtype=np.float32)
    except OverflowError as beyond:
        raise InvalidInput("cue_embedding must be a list of finite numbers") from beyond
    if not np.isfinite(vector).all():
        raise InvalidInput("cue_embedding must be a list of finite numbers")
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def fitting(vector: Matrix, dimensions: int) -> Matrix:
    """
    Raises:
        InvalidInput: it is of another model.
    """
    if len(vector) != dimensions:
        raise InvalidInput(f"cue_embedding must have {dimensions} numbers, not {len(vector)}")
    return vector


def speaker_named(speakers: Sequence[str]) -> str | None:
    """The one speaker that a cue names; two are a question about both."""
    return speakers[0] if len(speakers) == 1 else None
