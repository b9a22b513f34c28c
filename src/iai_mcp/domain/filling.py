"""What to show of the exchanges that were found: the pieces most likely to answer, within so many bytes.

An exchange is as likely to answer as its score says, a unit of it as likely to be the answer as its words
and its turn say. Room goes to what is likeliest per byte, so that a sure answer is told at
length and unsure ones share the rest.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.cue_matching import CueMatcher
from iai_mcp.domain.excerpts import overlaps, pieces_near
from iai_mcp.domain.exchanges import RankedExchange, TurnKind
from iai_mcp.domain.narration import broken_off, on_the_way
from iai_mcp.domain.ranking.candidates import beginnings
from iai_mcp.domain.short_prompts import says_only_yes
from iai_mcp.domain.units import Kind, Unit
from iai_mcp.domain.words import width

Floats = NDArray[np.float64]

# Exchanges that are looked at: of those behind, or so much less likely, nothing was ever shown in the usual
# room. Whoever gives more gets as many as it holds.
_LOOKED_AT = 10
_FAR_BEHIND = 4.0
_OF_AN_EXCHANGE = 700  # bytes
SURE_OF_A_PLACE = 4  # the first exchanges get a hit each, however thin their likelihood is spread
_TURNS_EACH = 2  # of an exchange
_TRIES = 3
_LEAST_ROOM = 50  # bytes: below it nothing more is tried
_SHORT_TURN = 220  # characters: what is said on the way and is no longer is narration
_SHORT_PROMPT = 70  # characters: shorter ones are told as the request of what followed
_JUST_WHAT_IS_ASKED = (
    0.6  # the share of the cue's rarity from which a short prompt is more than that
)
_OF_EACH_WORD = 50  # places in one turn
_TRIED = -1.0  # in the place of what a unit is worth: it is shown, or can not be
_PLACES = 3  # where else the same text stands, at most
_ASKED_ABOUT = 0.3  # the same of the question that is answered
_COPY = 40  # characters from which equal units are one text said again

# Fitted on coding sessions, cross-validated over sessions, rounded by hand.
_OVERLAP, _NEIGHBOUR = 4.5, 2.0
_FINAL, _NARRATION, _WISH, _QUESTION = 1.5, -2.3, 3.0, -2.0
_TABLE, _CODE, _LENGTH, _TURN_LENGTH, _EMPTY = -2.5, -1.0, 0.9, -0.5, -6.0
_OWN_STANCE, _OWN_QUESTION = 2.0, 1.4  # where the cue asks what the person thinks

_SELF = re.compile(r"\b(?:I|my|me|mine)\b")
_STANCE = re.compile(
    r"\b(?:want|prefer|like|dislike|insist|stance|rule|say|said|decide|chose|choose|pick|think|opinion|told"
    r"|ask|settle|allowed|may|supposed|should)\w*\b",
    re.IGNORECASE,
)
_FINALS = (TurnKind.CONCLUSION, TurnKind.PROPOSAL)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn of an exchange, as far as filling needs it."""

    key: int
    kind: TurnKind
    text: str
    person: bool
    around: int  # bytes of a hit besides its text
    wish: bool = False  # whether it states a standing wish
    asks: bool = False  # whether it ends in a question
    question: str = ""  # of the host, that a person answers: it is told with it
    elsewhere: int = 0  # bytes of naming it as another place where the same is said


@dataclass(frozen=True, slots=True)
class Picked:
    """What is shown of one turn: stretches of its text, in order."""

    key: int
    exchange: int  # its place among the exchanges
    spans: tuple[tuple[int, int], ...]
    also: tuple[int, ...] = ()  # keys of turns that say the same, word for word


@dataclass(slots=True)
class _Table:
    """The units of all turns in columns; `turn` is a place in `turns`."""

    turns: list[Spoken] = field(default_factory=list)
    exchange_of: list[int] = field(default_factory=list)  # per turn
    base: list[int] = field(default_factory=list)  # per turn, where its units begin
    units: list[Unit] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    overlap: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    copies: dict[int, list[Spoken]] = field(default_factory=dict)  # by the key of the first

    def add(self, exchange: int, turn: Spoken, cue: CueMatcher) -> None:
        found = cue.occurrences(turn.text, _OF_EACH_WORD)
        own, taken = pieces_near(turn.text, found, cue)
        self.base.append(len(self.units))
        self.turn += [len(self.turns)] * len(own)
        self.turns.append(turn)
        self.exchange_of.append(exchange)
        self.units += own
        self.said += [turn.text[unit.start : unit.end] for unit in own]
        about = cue.overlap(cue.occurrences(turn.question)) if turn.question else 0.0
        self.overlap += [max(about, share) for share in overlaps(own, found, cue)]
        self.bytes += taken

    def around(self) -> list[float]:
        """Per turn: the bytes of a hit besides its text, with the other places it names."""
        named = {key: sum(one.elsewhere for one in own) for key, own in self.copies.items()}
        return [float(turn.around + named.get(turn.key, 0)) for turn in self.turns]


def fill(
    exchanges: Sequence[RankedExchange],
    spoken: Mapping[int, Spoken],
    cue: CueMatcher,
    room: int,
    *,
    most: int = 100,
    own_stance: bool = False,
    taken: Callable[[Sequence[Picked]], int] | None = None,
) -> list[Picked]:
    """At most so many turns to show, best first; `exchanges` come best first.

    `taken` tells how many bytes what was picked really takes: each piece is counted as if nothing
    stood beside it, and what that leaves of the room is given out as well.
    """
    looked_at = worth_looking_at(exchanges, room)
    table = _table(looked_at, spoken, cue)
    if not table.units:
        return []
    odds = _odds(table, looked_at, _scores(table, own_stance))
    filling = _Filling(table, odds, room, most)
    picked = filling.filled()
    if taken is None:
        return picked
    left, wanted = room - taken(picked), room
    for _ in range(_TRIES):
        if left >= 0:
            break
        wanted += left  # something was not foreseen: again, in so much less
        picked = _Filling(table, odds, wanted, most).filled()
        left = room - taken(picked)
    if left > _LEAST_ROOM and filling.left_out:
        more = _Filling(table, odds, wanted + left, most).filled()
        return more if taken(more) <= room else picked
    return picked


def asks_for_a_stance(cue: str) -> bool:
    """Whether it asks what the person wants, thinks or decided, which nobody else's words tell."""
    return _SELF.search(cue) is not None and _STANCE.search(cue) is not None


def worth_looking_at(exchanges: Sequence[RankedExchange], room: int) -> Sequence[RankedExchange]:
    """Those of which something may be shown: whoever fills reads the words of no others."""
    if room // _OF_AN_EXCHANGE > _LOOKED_AT:
        return exchanges[: room // _OF_AN_EXCHANGE]
    first = exchanges[:SURE_OF_A_PLACE]
    likely = exchanges[0].score - _FAR_BEHIND if exchanges else 0.0
    behind = exchanges[SURE_OF_A_PLACE:_LOOKED_AT]
    return [*first, *(one for one in behind if one.score > likely)]


def _table(
    exchanges: Sequence[RankedExchange], spoken: Mapping[int, Spoken], cue: CueMatcher
) -> _Table:
    table = _Table()
    first: dict[str, int] = {}  # the key of who said it, by what was said
    every = [[spoken[key] for key in exchange.keys if key in spoken] for exchange in exchanges]
    told = [_worth_telling(turns, cue) for turns in every]
    for place, turns in enumerate(told if any(told) else every):
        for turn in turns:
            known = first.setdefault(turn.text, turn.key) if len(turn.text) >= _COPY else turn.key
            if known == turn.key:
                table.add(place, turn, cue)
            else:
                named = table.copies.setdefault(known, [])
                named += [turn] if len(named) < _PLACES else []
    return table


def _stands_alone(turn: Spoken, cue: CueMatcher) -> bool:
    """Whether it says something by itself: what is said on the way does not, nor "yes" or "run the tests"."""
    if not turn.person:
        return turn.kind is not TurnKind.NARRATION
    if turn.question:
        said = f"{turn.question}\n{turn.text}"
        return cue.overlap(cue.occurrences(said)) >= _ASKED_ABOUT
    if turn.kind is TurnKind.ANSWER:
        return False
    if width(turn.text) >= _SHORT_PROMPT or turn.wish:
        return True
    return not turn.asks and cue.overlap(cue.occurrences(turn.text)) >= _JUST_WHAT_IS_ASKED


def _worth_telling(turns: Sequence[Spoken], cue: CueMatcher) -> list[Spoken]:
    """What stands alone, or else whatever is neither "yes" nor "Let me run the tests"."""
    return [one for one in turns if _stands_alone(one, cue)] or [
        one for one in turns if not (_only_agrees(one) if one.person else broken_off(one.text))
    ]


def _only_agrees(turn: Spoken) -> bool:
    return turn.kind is TurnKind.ANSWER or says_only_yes(turn.text)


def _scores(table: _Table, own_stance: bool) -> Floats:
    overlap = np.array(table.overlap)
    turn = np.array(table.turn)
    beside = np.zeros(len(overlap))
    same = turn[1:] == turn[:-1]
    beside[1:] = np.where(same, overlap[:-1], 0.0)
    beside[:-1] = np.maximum(beside[:-1], np.where(same, overlap[1:], 0.0))
    lengths = np.array([width(said) for said in table.said])
    tables = np.array([unit.kind is Kind.TABLE for unit in table.units])
    code = np.array([unit.kind is Kind.CODE for unit in table.units])
    empty = np.array([unit.bare for unit in table.units]) | _narrations(table)
    by_turn = np.array([_worth(one, own_stance) for one in table.turns])
    scores: Floats = (
        _OVERLAP * overlap
        + _NEIGHBOUR * beside
        + by_turn[turn]
        + _TABLE * tables
        + _CODE * code
        + _LENGTH * (np.log(10.0 + lengths) - 4.0)
        + _EMPTY * empty
    )
    return scores


def _narrations(table: _Table) -> NDArray[np.bool_]:
    """Which units only say what an assistant is about to do."""
    people = [turn.person for turn in table.turns]
    narrated = [
        not people[turn] and on_the_way(said)
        for turn, said in zip(table.turn, table.said, strict=True)
    ]
    return np.array(narrated)


def _worth(turn: Spoken, own_stance: bool) -> float:
    """What speaks for a turn whatever its words."""
    worth = _TURN_LENGTH * (math.log(50 + width(turn.text)) - 6.0)
    if turn.kind in _FINALS or turn.question:
        worth += _FINAL
    elif not turn.person and width(turn.text) < _SHORT_TURN:
        worth += _NARRATION
    if turn.wish:
        worth += _WISH
    if turn.person and turn.asks:
        worth += _QUESTION + (_OWN_QUESTION if own_stance else 0.0)
    if turn.person and own_stance:
        worth += _OWN_STANCE
    return worth


@dataclass(frozen=True, slots=True)
class _Odds:
    """How likely each unit is the answer, in columns; whatever the room."""

    turn: NDArray[np.int64]
    exchange: NDArray[np.int64]
    scores: Floats
    likely: Floats
    of_turn: Floats  # per turn: how likely any of its units is
    bytes: Floats
    worth: Floats  # per byte, with those of its turn; -1 for a heading, which never stands alone


def _odds(table: _Table, exchanges: Sequence[RankedExchange], scores: Floats) -> _Odds:
    turn = np.array(table.turn)
    exchange = np.array(table.exchange_of)[turn]
    likely = _likely(exchanges, exchange, scores)
    of_turn: Floats = np.bincount(turn, likely, len(table.turns)).astype(np.float64, copy=False)
    taken = np.array(table.bytes, np.float64)
    around = np.array(table.around())
    alone = np.array([unit.kind is not Kind.HEADING for unit in table.units])
    return _Odds(
        turn=turn,
        exchange=exchange,
        scores=scores,
        likely=likely,
        of_turn=of_turn,
        bytes=taken,
        worth=np.where(alone, likely / (taken + around[turn]), _TRIED),
    )


def _likely(
    exchanges: Sequence[RankedExchange], exchange: NDArray[np.int64], scores: Floats
) -> Floats:
    """How likely each unit is the answer, if it is of that exchange and has that score in it."""
    found = np.array([one.score for one in exchanges])
    by_exchange = np.exp(found - found.max())
    by_exchange /= by_exchange.sum()
    likely = np.zeros(len(scores))
    firsts = beginnings(exchange).tolist()
    for first, after in zip(firsts, [*firsts[1:], len(scores)], strict=True):
        own = scores[first:after]
        within = np.exp(own - own.max())
        likely[first:after] = by_exchange[exchange[first]] * within / within.sum()
    return likely


class _Filling:
    """One answer being filled."""

    def __init__(self, table: _Table, odds: _Odds, room: int, most: int) -> None:
        self.table, self.odds, self.most = table, odds, most
        self.left = float(room)
        self.worth = odds.worth.copy()  # _TRIED for what was
        self.around = table.around()
        self.chosen: dict[int, set[int]] = {}  # units by turn
        self.turns_of: dict[int, int] = {}  # how many turns of an exchange are shown
        self.shown: set[str] = set()
        self.queue: list[tuple[float, int]] = []  # what is worth most per byte first
        self.refused = False  # whether anything was too long for what was left

    def filled(self) -> list[Picked]:
        for place in range(SURE_OF_A_PLACE):
            self._give_a_place(place)
        self.queue = [(-one, unit) for unit, one in enumerate(self.worth.tolist()) if one != _TRIED]
        heapify(self.queue)
        while self.queue and self.left > _LEAST_ROOM:
            worth, unit = heappop(self.queue)
            if self.worth[unit] == -worth:  # neither tried nor cheaper by now
                self._take(unit)
        order = sorted(
            self.chosen,
            key=lambda turn: (self.table.exchange_of[turn], -self.odds.of_turn[turn]),
        )
        return [self._picked(turn) for turn in order]

    @property
    def left_out(self) -> bool:
        """Whether with more room more would have been shown."""
        return self.refused or self.left <= _LEAST_ROOM

    def _untried(self, which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.flatnonzero(which & (self.worth != _TRIED))

    def _give_a_place(self, exchange: int) -> None:
        turn, scores = self.odds.turn, self.odds.scores
        own = self._untried(self.odds.exchange == exchange)
        if not own.size:
            return
        best = turn[own][np.argmax(self.odds.of_turn[turn[own]])]
        own = own[turn[own] == best]
        for unit in own[np.argsort(-scores[own], kind="stable")].tolist():
            self._take(unit)
            if int(best) in self.chosen:
                break

    def _take(self, unit: int) -> None:
        """Show a unit with what it needs, if there is room for it."""
        self.worth[unit] = _TRIED
        turn = self.table.turn[unit]
        exchange = self.table.exchange_of[turn]
        new = turn not in self.chosen
        if new and (len(self.chosen) >= self.most or self.turns_of.get(exchange, 0) >= _TURNS_EACH):
            return
        said = self.table.said[unit]
        if len(said) >= _COPY and " ".join(said.split()) in self.shown:
            return
        if new and not self._with_its_conclusion(turn):
            return
        if new and len(self.chosen) >= self.most:
            return
        wanted = {unit} | self._heading(unit) - self.chosen.get(turn, set())
        cost = sum(self.table.bytes[one] for one in wanted) + self.around[turn]
        if cost > self.left:
            self.refused = True
            return
        self.left -= cost
        self._pay_for(turn)
        self.turns_of[exchange] = self.turns_of.get(exchange, 0) + new
        self.chosen.setdefault(turn, set()).update(wanted)
        self.shown.add(" ".join(said.split()))

    def _pay_for(self, turn: int) -> None:
        """What stands around a turn is paid for once: more of it costs its own bytes alone."""
        if not self.around[turn]:
            return
        self.around[turn] = 0.0
        own = self._untried(self.odds.turn == turn)
        self.worth[own] = self.odds.likely[own] / self.odds.bytes[own]
        for unit, worth in zip(own.tolist(), self.worth[own].tolist(), strict=True):
            heappush(self.queue, (-worth, unit))

    def _with_its_conclusion(self, turn: int) -> bool:
        """Whether what the turn led to is shown: a prompt without it tells only that somebody asked."""
        said = self.table.turns[turn]
        if not said.person or said.wish or said.question:
            return True
        exchange = self.table.exchange_of[turn]
        finals = [
            other
            for other, one in enumerate(self.table.turns)
            if self.table.exchange_of[other] == exchange and one.kind in _FINALS
        ]
        for final in finals:
            if final not in self.chosen:
                own = self._untried(self.odds.turn == final)
                if own.size:
                    self._take(int(own[self.odds.scores[own].argmax()]))
            if final not in self.chosen:
                return False
        return True

    def _heading(self, unit: int) -> set[int]:
        heading = self.table.units[unit].heading
        return set() if heading < 0 else {self.table.base[self.table.turn[unit]] + heading}

    def _picked(self, turn: int) -> Picked:
        chosen = sorted(self.chosen[turn])
        spans = tuple((self.table.units[one].start, self.table.units[one].end) for one in chosen)
        key = self.table.turns[turn].key
        also = tuple(one.key for one in self.table.copies.get(key, ()))
        return Picked(key, self.table.exchange_of[turn], spans, also)
