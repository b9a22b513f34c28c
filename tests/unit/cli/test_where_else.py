"""Where else a hit was said, as a terminal tells it."""

from iai_mcp.cli.recall import hit_text

HIT: dict[str, object] = {
    "id": "1", "text": "the plan", "role": "user", "project": "/home/me/shop", "ts": "2026-09-10T10:00:00Z",
}  # fmt: skip


def test_other_places_are_named_by_day_project_and_session() -> None:
    also = [
        {"id": "2", "session_id": "1a2b3c4d-5e6f", "ts": "2026-09-11T10:00:00Z"},
        {"id": "3", "session_id": "9f8e7d6c-5b4a", "ts": "2026-09-12T10:00:00Z", "project": "/x/other"},
    ]  # fmt: skip
    told = hit_text({**HIT, "also": also})
    assert "(also said: 2026-09-11 in shop (session 1a2b3c4d); " in told
    assert "2026-09-12 in other (session 9f8e7d6c))" in told


def test_how_often_it_was_said_in_all_is_told_where_that_is_more() -> None:
    also = [{"id": "2", "session_id": "abc", "ts": "2026-09-11T10:00:00Z"}]
    assert "times" not in hit_text({**HIT, "also": also, "count": 2})
    assert "(session abc), 12 times in all)" in hit_text({**HIT, "also": also, "count": 12})
