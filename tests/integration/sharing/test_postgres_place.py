"""A circle in a real PostgreSQL: roles, refusals, and connections that end."""

import secrets
from collections.abc import Iterator
from urllib.parse import quote

import psycopg
import pytest

from iai_mcp.adapters.postgres_log import PostgresLog
from iai_mcp.domain.errors import IaiError, ReadOnly, RemoteFailed

DEVICE = "a" * 32


@pytest.fixture
def owner(postgres_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(postgres_url, autocommit=True) as link:
        link.execute("DROP SCHEMA IF EXISTS iai_share CASCADE")
        yield link


@pytest.fixture
def member_url(owner: psycopg.Connection[tuple[object, ...]], postgres_url: str) -> Iterator[str]:
    """A role that owns nothing."""
    role = f"member_{secrets.token_hex(4)}"
    owner.execute(f"CREATE ROLE {role} LOGIN".encode())
    yield postgres_url.replace("postgres:@", f"{role}@")
    owner.execute(f"DROP OWNED BY {role}".encode())
    owner.execute(f"DROP ROLE {role}".encode())


def test_a_role_that_may_not_prepare_is_told_what_an_administrator_does(member_url: str) -> None:
    place = PostgresLog(member_url, "c")
    with pytest.raises(ReadOnly, match="init-postgres --print"):
        place.prepare()
    with pytest.raises(IaiError, match="init-postgres --print"):
        place.heads()
    place.close()


def test_nobody_changes_or_removes_what_another_role_wrote(
    owner: psycopg.Connection[tuple[object, ...]], postgres_url: str, member_url: str
) -> None:
    prepared = PostgresLog(postgres_url, "c")
    prepared.prepare()
    prepared.prepare()  # a second time changes nothing
    prepared.append(DEVICE, 1, b"as it was")
    owner.execute(b"GRANT USAGE ON SCHEMA iai_share TO PUBLIC")
    owner.execute(b"GRANT ALL ON ALL TABLES IN SCHEMA iai_share TO PUBLIC")
    member = PostgresLog(member_url, "c")
    member.prepare()
    with pytest.raises(IaiError):
        member.replace(DEVICE, 1, 1, b"forged")
    with psycopg.connect(member_url) as link:
        assert link.execute("DELETE FROM iai_share.records").rowcount == 0
    assert prepared.read(DEVICE, 0, 10)[0].sealed == b"as it was"
    member.append("b" * 32, 1, b"its own")
    assert prepared.heads() == {DEVICE: 1, "b" * 32: 1}
    member.close()
    prepared.close()


def test_a_connection_that_the_database_ended_is_made_anew(
    owner: psycopg.Connection[tuple[object, ...]], postgres_url: str
) -> None:
    place = PostgresLog(postgres_url, "c")
    place.prepare()
    owner.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'iai-mcp'"
    )
    with pytest.raises(RemoteFailed, match="ended the connection"):
        place.heads()
    assert place.heads() == {}
    place.close()


def test_what_can_not_be_reached_is_told_without_the_password() -> None:
    place = PostgresLog(f"postgresql://ann:{quote('hush/hush')}@127.0.0.1:1/none", "c")
    with pytest.raises(RemoteFailed) as refused:
        place.heads()
    assert "hush" not in str(refused.value)


def test_beyond_this_machine_nothing_goes_unencrypted() -> None:
    from iai_mcp.adapters import postgres_log

    assert postgres_log._arguments("postgresql://h.example/db")["sslmode"] == "require"
    asked = "postgresql://h.example/db?sslmode=disable"
    assert postgres_log._arguments(asked)["sslmode"] == "require"
    kept = "postgresql://h.example/db?sslmode=verify-full"
    assert postgres_log._arguments(kept)["sslmode"] == "verify-full"
    assert "sslmode" not in postgres_log._arguments("postgresql://127.0.0.1/db")
