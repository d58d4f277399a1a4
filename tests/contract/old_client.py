"""A controller as it is in the field: nothing but the standard library, and none of our own code.

It gives up after ten seconds, keeps what it could not send in a list, and stops draining it at the first answer that
is no 2xx.
"""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field

TIME_LIMIT_S = 10


@dataclass
class Answer:
    status: int
    body: object
    headers: dict

    @property
    def is_fine(self):
        return 200 <= self.status < 300


@dataclass
class OldClient:
    url: str
    email: str
    password: str = "a long enough password"
    access: str = ""
    refresh: str = ""
    key: str = ""
    refreshed: int = 0
    spool: list = field(default_factory=list)

    def signup(self):
        return self._keep(self.send("POST", "/auth/signup", {"email": self.email, "password": self.password}))

    def login(self):
        return self._keep(self.send("POST", "/auth/login", {"email": self.email, "password": self.password}))

    def call(self, method, path, body=None):
        """As everywhere: a 401 is answered with one refresh and one more try."""
        answer = self.send(method, path, body)
        if answer.status != 401 or self.key or not self.refresh:
            return answer
        if not self._keep(self.send("POST", "/auth/refresh", {"refresh_token": self.refresh})).is_fine:
            return answer
        self.refreshed += 1
        return self.send(method, path, body)

    def report(self, record, samples):
        """Into the spool, then try to empty it."""
        self.spool.append((record, samples))
        return self.drain()

    def drain(self):
        """Returns how many left the spool."""
        sent = 0
        while self.spool:
            if not self._delivered(*self.spool[0]):
                break
            self.spool.pop(0)
            sent += 1
        return sent

    def send(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method)
        if body is not None:
            request.data = body if isinstance(body, bytes) else json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if self.key:
            request.add_header("X-API-Key", self.key)
        elif self.access:
            request.add_header("Authorization", f"Bearer {self.access}")
        try:
            with urllib.request.urlopen(request, timeout=TIME_LIMIT_S) as response:
                return _answer(response.status, response.read(), response.headers)
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error.code, error.read(), error.headers)
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            return Answer(0, {"detail": str(error)}, {})

    def _delivered(self, record, samples):
        answer = self.call("POST", "/api/v1/runs", [record])
        if not answer.is_fine:
            return False
        run_id = answer.body["runs"][0]["id"]
        return self.call("POST", f"/api/v1/runs/{run_id}/samples", {"samples": samples}).is_fine

    def _keep(self, answer):
        if answer.is_fine:
            self.access, self.refresh = answer.body["access_token"], answer.body["refresh_token"]
        return answer


def _answer(status, raw, headers):
    return Answer(status, json.loads(raw) if raw else None, dict(headers))
