"""What the use cases may rely on around them: time, projects, consent, redaction, clusters.

The same on fakes and on the real ones.
"""

import time
from pathlib import Path

import pytest
from tests.fakes.sleep import everybody_together
from tests.fakes.surroundings import FakeConsent, FakeProjects, StandingClock

from iai_mcp.adapters.consent import LocalConsent
from iai_mcp.adapters.leiden import LeidenCommunities
from iai_mcp.adapters.redactor import FileRedactor
from iai_mcp.adapters.surroundings import LocalProjects, SystemClock
from iai_mcp.capture.consent import pause
from iai_mcp.domain.redaction.redactor import PRIVATE, redact
from iai_mcp.ports.learned import Communities
from iai_mcp.ports.surroundings import Clock, Consent, Projects, Redactor


@pytest.mark.parametrize("clock", [StandingClock(time.time_ns() // 1000), SystemClock()])
def test_a_clock_counts_microseconds_and_never_goes_back(clock: Clock) -> None:
    first = clock.now()
    assert abs(first / 1e6 - time.time()) < 600
    assert clock.now() >= first


@pytest.fixture(params=["fake", "local"])
def projects(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Projects:
    """Two projects, `heron` and `pond`, below the test's own directory."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    for name in ("heron", "pond"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (tmp_path / name / "src").mkdir()
    if request.param == "fake":
        return FakeProjects(str(tmp_path / "heron"), str(tmp_path / "pond"))
    return LocalProjects()


def test_a_place_belongs_to_the_project_around_it(projects: Projects, tmp_path: Path) -> None:
    heron = str(tmp_path / "heron")
    assert projects.key_of("", str(tmp_path / "heron" / "src")) == heron
    assert projects.place_of(str(tmp_path / "heron" / "src")) == heron
    assert projects.key_of(heron, str(tmp_path / "pond")) == heron
    assert projects.key_of("", "") == projects.place_of("") == ""
    assert projects.key_of("a name", "") == "a name"


def test_a_path_stands_for_the_project_it_lies_in(projects: Projects, tmp_path: Path) -> None:
    known = [str(tmp_path / "heron"), str(tmp_path / "pond"), "a name"]
    assert projects.matching(str(tmp_path / "heron" / "src"), known) == known[:1]
    assert projects.matching("a name", known) == known[2:]
    assert projects.matching("unheard of", known) == []


def test_checkouts_that_come_from_one_place_are_kin(projects: Projects) -> None:
    gone = ["/gone/a/shop", "/gone/b/shop", "/gone/c/till"]
    for key in gone[:2]:
        projects.comes_from(key, "https://github.com/ann/shop")
    projects.comes_from(gone[2], "https://github.com/ann/till")
    assert projects.kin(gone[0], [*gone, "a name"]) == gone[1:2]
    assert projects.kin(gone[2], gone) == projects.kin("a name", gone) == []
    projects.comes_from(gone[2], "https://github.com/ann/shop", guessed=True)
    assert projects.kin(gone[2], gone) == []
    assert not any(map(projects.is_here, gone))


def test_a_project_is_here_if_its_directory_is(projects: Projects, tmp_path: Path) -> None:
    assert projects.is_here(projects.key_of("", str(tmp_path / "heron")))


def test_a_private_project_is_closed_to_all_but_its_own(projects: Projects, tmp_path: Path) -> None:
    heron, pond = str(tmp_path / "heron"), str(tmp_path / "pond")
    assert projects.closed([heron], [heron, pond], pond) == [heron]
    assert projects.closed([heron], [heron, pond], "") == [heron]
    assert projects.closed([heron], [heron, pond], heron) == []


@pytest.mark.parametrize("communities", [everybody_together, LeidenCommunities()])
def test_every_node_with_an_edge_has_a_community_and_always_the_same(
    communities: Communities,
) -> None:
    edges = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (5, 6, 1.0)]
    found = communities(edges)
    assert sorted(found) == [0, 1, 2, 5, 6]
    assert found[0] == found[1] == found[2]
    assert communities(edges) == found
    assert communities([]) == {}


@pytest.mark.parametrize("kind", ["fake", "local"])
def test_what_people_do_not_want_remembered_is_refused_by_place_and_by_time(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    secret, plain = tmp_path / "secret", tmp_path / "plain"
    for place in (secret, plain):
        place.mkdir()
    (secret / ".iai-ignore").touch()
    before = time.time_ns() // 1000
    pause()
    later = time.time_ns() // 1000 + 1
    consent: Consent = (
        FakeConsent(str(secret), silent=(before, 1 << 62)) if kind == "fake" else LocalConsent()
    )
    rules = consent.rules()
    assert rules.refusal("", str(secret / "src"), 0)
    assert rules.refusal("", str(plain), 0) is None
    assert rules.refusal("", "", 0) is None
    assert rules.refusal("", str(plain), later)


@pytest.mark.parametrize("redactor", [redact, FileRedactor(lambda: "/nowhere/redaction.toml")])
def test_a_redactor_leaves_markers_in_place_of_what_is_private(redactor: Redactor) -> None:
    told = redactor("the heron <private>nests here</private> in april")
    assert told.text == f"the heron {PRIVATE} in april"
    assert not told.nothing_left
    assert redactor("<private>all of it</private>").nothing_left
    assert redactor("nothing to hide").text == "nothing to hide"
