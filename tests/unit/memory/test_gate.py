"""Callers are let in a few at a time, in the order they came."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from tests.support.daemon import until

from iai_mcp.memory.gate import Gate


def test_never_more_inside_than_may_be() -> None:
    turns, lock = Gate(2), threading.Lock()
    inside, most = 0, 0

    def visit(_: int) -> None:
        nonlocal inside, most
        for _again in range(200):
            with turns:
                with lock:
                    inside += 1
                    most = max(most, inside)
                with lock:
                    inside -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(visit, range(8)))
    assert inside == 0
    assert 1 <= most <= 2


def test_who_waits_longest_is_next() -> None:
    turns = Gate(1)
    order: list[int] = []
    threads = []

    def visit(number: int) -> None:
        with turns:
            order.append(number)

    def so_many_wait(number: int) -> bool:
        return len(turns._waiting) == number

    with turns:
        for number in range(5):
            thread = threading.Thread(target=visit, args=(number,))
            thread.start()
            threads.append(thread)
            until(partial(so_many_wait, number + 1), "it waits")
    for thread in threads:
        thread.join(5)
    assert order == [0, 1, 2, 3, 4]


def test_whoever_fails_inside_lets_the_next_one_in() -> None:
    turns = Gate(1)
    with pytest.raises(KeyError), turns:
        raise KeyError
    with turns:
        assert turns._free == 0
    assert turns._free == 1
