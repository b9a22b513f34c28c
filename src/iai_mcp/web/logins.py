"""Who may use the page: URLs that work once, what they are exchanged for, and who may type where.

All of it lives in memory and ends with the page.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

# Somebody who tunnels through ssh copies the URL by hand.
_TOKEN_SECONDS = 600.0
_MOST_TOKENS = 16
_MOST_LOGINS = 32
# After the last key. Who walks away leaves no terminal behind that takes what others type.
KEYBOARD_SECONDS = 300.0


@dataclass(slots=True)
class Login:
    """One browser that was let in.

    It shows both of its secrets with every request. The cookie is one that scripts can not read,
    but browsers send it to every port of this machine; `secret` only the page itself knows.
    """

    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    keyboards: dict[str, float] = field(default_factory=dict)  # session -> when it is taken back

    def knows(self, secret: str) -> bool:
        return hmac.compare_digest(self.secret.encode(), secret.encode())


class Logins:
    """Every token that is still good, and every browser that is in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tokens: dict[str, float] = {}
        self._logins: dict[str, Login] = {}

    def new_token(self) -> str:
        """What a URL carries; good for one login, soon."""
        token = secrets.token_urlsafe(32)
        self._tokens[token] = self._clock() + _TOKEN_SECONDS
        _keep_newest(self._tokens, _MOST_TOKENS)
        return token

    def exchange(self, token: str) -> Login | None:
        """A login for a token, which is used up by that; None if it is none, or was used before."""
        good_until = self._tokens.pop(token, None)
        if good_until is None or self._clock() > good_until:
            return None
        login = Login()
        self._logins[login.cookie] = login
        _keep_newest(self._logins, _MOST_LOGINS)
        return login

    def of_cookie(self, cookie: str) -> Login | None:
        return self._logins.get(cookie)

    def give_keyboard(self, login: Login, session: str) -> None:
        """Let a login type into a session, until it has not typed for a while."""
        login.keyboards[session] = self._clock() + KEYBOARD_SECONDS

    def take_keyboard(self, login: Login, session: str) -> None:
        login.keyboards.pop(session, None)

    def may_type(self, login: Login, session: str) -> bool:
        """Whether it may; to type is to go on having it."""
        if self._clock() > login.keyboards.get(session, float("-inf")):
            login.keyboards.pop(session, None)
            return False
        self.give_keyboard(login, session)
        return True


def _keep_newest(things: dict[str, float] | dict[str, Login], most: int) -> None:
    while len(things) > most:
        del things[next(iter(things))]
