"""Vectors go along with memories: who has the same model makes none of them again."""

import numpy as np
import pytest
from tests.integration.sharing.conftest import Machine

from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.engine.vectors import Passages, Vectors

Pair = tuple[Machine, Machine]
DIMENSIONS = 8


def unit(place: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return np.eye(DIMENSIONS, dtype=np.float32)[place : place + 1]


def model(machine: Machine, name: str = "small") -> SqliteVectors:
    return SqliteVectors(machine.store.database, name, DIMENSIONS)


def embed(machine: Machine, made: SqliteVectors, *, context: bool = False, size: float = 1) -> None:
    """As the backlog does: a vector of the turn, of a topic, of a passage, and of its context."""
    parts = np.concatenate([unit(1), unit(2), unit(3)])
    for key in machine.store.memories.pending():
        Vectors(made, DIMENSIONS).put([key], unit(0) * size, [Passages(key, 1, context, parts)])


def pending(machine: Machine) -> int:
    return machine.store.memories.pending_count()


def test_with_the_same_model_nothing_has_to_be_embedded_again(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("the heron is grey")
    embed(ann, model(ann))
    theirs = model(bob)
    ann.now()
    bob.now()
    assert pending(bob) == 0
    (turn,) = theirs.page(0, 10)
    (parts,) = theirs.parts([turn.key])
    (own,) = model(ann).with_topics(0, 10)
    assert (parts.topics, parts.scales, parts.codes) == (own.topics, own.scales, own.codes)
    found = Vectors(theirs, DIMENSIONS)
    found.load_behind(turn.key - 1)
    assert found.wishes_about(unit(1), 5)[turn.key] == pytest.approx(1, abs=0.01)


def test_with_another_model_or_none_they_are_made_anew(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("the heron is grey")
    embed(ann, model(ann))
    theirs = model(bob, "another")
    ann.now()
    bob.now()
    assert pending(bob) == 1 and not len(theirs.page(0, 10))


def test_what_is_no_vector_of_meaning_is_not_taken(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("near to everything")
    embed(ann, model(ann), size=40)
    theirs = model(bob)
    ann.now()
    bob.now()
    assert bob.texts() == ["near to everything"]
    assert pending(bob) == 1 and not len(theirs.page(0, 10))


def test_a_vector_made_of_words_that_stay_here_stays_here(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("between us", project="/home/ann/diary")
    ann.hears("yes, do that")
    embed(ann, model(ann), context=True)
    model(bob)
    ann.now()
    bob.now()
    assert bob.texts() == ["yes, do that"] and pending(bob) == 1


def test_a_vector_made_of_words_that_are_shared_goes_along(pair: Pair) -> None:
    ann, bob = pair
    ann.hears("shall I?", "yes, do that")
    embed(ann, made := model(ann))
    (first, second) = made.page(0, 10)
    made.put([second], [next(iter(made.parts([first.key])))._replace(key=second.key, context=True)])
    model(bob)
    ann.now()
    bob.now()
    assert len(bob.texts()) == 2 and pending(bob) == 0
