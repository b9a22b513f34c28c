"""The page of a scratch home, as a program that speaks HTTP sees it."""

import http.client
import json
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from tests.support.answers import Json
from tests.support.home import ScratchHome


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Json:
        told: Json = json.loads(self.body)
        return told


def opened(home: ScratchHome, *arguments: str) -> str:
    """The URL that `iai-mcp page` gives."""
    done = home.command("page", "--no-open", "--json", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(json.loads(done.stdout)["url"])


@dataclass
class Visitor:
    """Somebody who speaks HTTP with the page at `port`; a login once `log_in` was called."""

    port: int
    cookie: str = ""
    secret: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, url: str) -> "Visitor":
        visitor = cls(urlsplit(url).port or 80)
        assert visitor.log_in(url).status == 303
        return visitor

    def log_in(self, url: str) -> Answer:
        parts = urlsplit(url)
        answer = self.ask("GET", f"{parts.path}?{parts.query}")
        if answer.status == 303:
            self.cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
            fragment = urlsplit(answer.headers["Location"]).fragment
            self.secret = parse_qs(fragment)["k"][0]
        return answer

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> Answer:
        given: dict[str, str | None] = {
            "Cookie": self.cookie,
            "X-IAI-CSRF": self.secret,
            **self.headers,
        }
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def call(self, method: str, params: object = None, **headers: str | None) -> Answer:
        body = json.dumps(params or {}).encode()
        return self.ask(
            "POST", f"/api/{method}", body, **{"Content_Type": "application/json", **headers}
        )
