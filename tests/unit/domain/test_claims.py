"""When two statements can hardly both be true, and when they can."""

import pytest

from iai_mcp.domain.claims import Conflict, claims, conflict


def between(older: str, newer: str) -> Conflict | None:
    found = [conflict(a, b) for a in claims(older) for b in claims(newer)]
    return next((one for one in found if one is not None), None)


@pytest.mark.parametrize(
    ("older", "newer", "kind"),
    [
        (
            "The staging database listens on port 5432.",
            "staging database listens on port 5433",
            "contradiction",
        ),
        ("The API timeout is 30 seconds.", "API timeout is 60 seconds, says ops.", "contradiction"),
        (
            "Deploy the shop with `make ship`.",
            "We deploy the shop with `just ship`.",
            "contradiction",
        ),
        ("Never commit generated files.", "Please commit generated files.", "contradiction"),
        ("We squash release branches.", "Do not squash release branches.", "contradiction"),
        (
            "The build must not use the network cache.",
            "The build must use the network cache now.",
            "contradiction",
        ),
        (
            "The frontend build uses webpack 5.",
            "We switched the frontend build to vite 6.",
            "stale",
        ),
        ("The queue worker runs on redis 7.", "The queue worker no longer runs on redis.", "stale"),
    ],
)
def test_another_value_an_opposite_or_a_change_is_noticed(
    older: str, newer: str, kind: str | None
) -> None:
    found = between(older, newer)
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "The staging database listens on port 5432.",
            "The staging database listens on port 5432!",
        ),
        ("The staging database listens on port 5432.", "The web server listens on port 8080."),
        ("Does the staging database listen on 5432?", "The staging database listens on port 5433."),
        ("Test 3 failed after 20 seconds.", "Test 4 failed after 21 seconds."),
        ("We decided to use postgres.", "Lunch is at 12."),
        (
            "I ran 12 checks on the invoice module.",
            "I ran 14 checks and 3 lints on the invoice module.",
        ),
    ],
)
def test_what_goes_together_is_left_alone(older: str, newer: str) -> None:
    assert between(older, newer) is None
