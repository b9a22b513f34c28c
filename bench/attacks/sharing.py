"""A member, a removed member and whoever runs the place attack a circle, in a directory."""

import inspect
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.integration.sharing import test_hostile_members as hostile
from tests.integration.sharing.conftest import Machine, join
from tests.support.raw_places import DirectoryPlace

from bench.attacks.outcome import Outcome

ATTACKS: dict[str, Callable[..., None]] = {
    "a late copy of the place removes somebody while another joins": (
        hostile.test_who_joins_while_somebody_is_removed_elsewhere_waits_for_the_key
    ),
    "who lacks the key leaves": hostile.test_a_machine_without_the_key_can_leave,
    "a junk file far ahead in a stream": partial(
        hostile.test_a_junk_file_in_a_stream_stops_nobody, number=900_000_000
    ),
    "a junk file in the way of the next record": partial(
        hostile.test_a_junk_file_in_a_stream_stops_nobody, number=0
    ),
    "records that can not be applied": (
        hostile.test_a_record_that_can_not_be_applied_is_set_aside_and_named
    ),
    "removing and leaving while the place is away": (
        hostile.test_removing_and_leaving_need_no_contact
    ),
    "a removed member writes their records anew": (
        hostile.test_who_was_removed_can_not_rewrite_what_they_said
    ),
    "a used code and an older copy of the place": (
        hostile.test_a_used_code_opens_nothing_also_with_an_older_copy_of_the_place
    ),
    "4,000 files of one byte": hostile.test_much_that_is_no_record_costs_no_contact_much,
    "500 devices that do not belong": hostile.test_many_strangers_cost_no_contact_much,
    "a small record that unpacks to 300 MB": (
        hostile.test_a_small_record_that_unpacks_to_much_is_refused
    ),
    "a place that shows two machines different records": (
        hostile.test_a_place_that_shows_two_machines_different_records_is_found_out
    ),
    "a stream that is cut off for one machine": (
        hostile.test_a_stream_that_is_cut_off_for_one_machine_is_found_out
    ),
}


def attacks() -> Iterator[Outcome]:
    for attack, attempt in ATTACKS.items():
        with _room() as given:
            wanted = inspect.signature(attempt).parameters.keys() & given.keys()
            try:
                attempt(**{name: given[name] for name in wanted})
            except AssertionError:
                held = 0
            else:
                held = 1
        yield Outcome(attack, held, 1)


@contextmanager
def _room() -> Iterator[dict[str, Any]]:
    """Machines with stores of their own and a place, as the tests have them."""
    before, made = dict(os.environ), list[Machine]()
    with tempfile.TemporaryDirectory(prefix="iai-attack-") as name:
        base = Path(name)
        os.environ |= {
            "HOME": name,
            "IAI_MCP_STORE": str(base / "store"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        }
        (base / "place").mkdir()
        raw = DirectoryPlace(str(base / "place"), base / "place")

        def machine(called: str) -> Machine:
            made.append(Machine(base / f"store-{called}", called))
            return made[-1]

        def team(*names: str) -> list[Machine]:
            host, *guests = (machine(one) for one in names)
            host.call("share_create", name="team", at=raw.url, **{"as": host.name})
            host.call("share_project", project=hostile.POND, **{"with": "team"})
            for guest in guests:
                join(host, guest)
                guest.call("share_project", project="pond@team", **{"with": "team"})
            hostile.settle(host, *guests)
            return [host, *guests]

        try:
            yield {"machine": machine, "team": team, "raw": raw}
        finally:
            for one in made:
                one.store.close()
            os.environ.clear()
            os.environ |= before
