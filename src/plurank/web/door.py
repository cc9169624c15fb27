"""The door of the service: who may come in, with how much, and what every answer carries."""

import hmac
import ipaddress
import math
import re
from collections.abc import Collection

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plurank.web.limits import (
    Buckets,
    bucket_of,
    read_body,
    replay,
    too_large,
)
from plurank.web.refusals import Refusal
from plurank.web.settings import Settings
from plurank.web.visitors import Visitors

POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors {}"
SAFETY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
PERMISSIONS = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "Authorization, Content-Type",
    "access-control-max-age": "600",
}
COOKIE_PATHS = ("/", "/next-pair", "/feedback")
ORIGIN = "plurank.origin"  # where in a scope the origin of an answer is


class Door:
    """Checks requests before the application sees them, and adds headers to every answer."""

    def __init__(
        self, app: ASGIApp, settings: Settings, open_paths: Collection[str], posted_paths: Collection[str]
    ) -> None:
        self.app, self.settings = app, settings
        self.open_paths, self.posted_paths = open_paths, posted_paths
        self.buckets = Buckets(settings.rate)
        self.secret = None if settings.token is None else f"Bearer {settings.token}".encode()
        self.visitors = Visitors(settings.secret, is_framed=settings.allow_frame is not None)
        policy = POLICY.format(settings.allow_frame or "'none'")
        self.safety = [(b"content-security-policy", policy.encode()), *SAFETY]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        added = [*self.safety, *self._sharing(headers), *self._identify(scope, headers)]
        is_head = scope["method"] == "HEAD"

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *added]
            elif is_head:
                message["body"] = b""
            await send(message)

        if is_head:
            scope = {**scope, "method": "GET"}

        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            await self._answer_other_site(headers)(scope, receive, send_safely)
            return
        try:
            receive = await self._let_in(scope, headers, receive)
        except Refusal as refusal:
            await refusal.answer()(scope, receive, send_safely)
        else:
            await self.app(scope, receive, send_safely)

    async def _let_in(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """Refuse, or give what the application receives."""
        if self.settings.is_local:
            _check_host(headers)
        if scope["path"] != "/health":
            self._check_rate(scope)
        if scope["path"] not in self.open_paths:
            self._check_token(headers)
        if scope["method"] != "POST" or scope["path"] not in self.posted_paths:
            return receive  # an address that takes no such request says so, whatever the request holds
        return replay(await self._read(headers, receive), receive)

    def _identify(self, scope: Scope, headers: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """Note where an answer comes from; return the cookie for a browser that has none."""
        if self.settings.feedback is None or scope["path"] not in COOKIE_PATHS:
            return []
        origin = self.visitors.recognise(headers.get(b"cookie", b""), _bucket(scope))
        scope[ORIGIN] = origin
        return [] if origin.visitor else [(b"set-cookie", self.visitors.issue())]

    def _check_rate(self, scope: Scope) -> None:
        wait = self.buckets.wait(_bucket(scope))
        if wait:
            seconds = math.ceil(wait)
            sentence = f"{self.settings.rate:,.0f} requests a minute are allowed, and these are more. Wait {seconds} s."
            raise Refusal(429, sentence, retry_after=str(seconds))

    def _check_token(self, headers: dict[bytes, bytes]) -> None:
        given = headers.get(b"authorization", b"")
        if self.secret is not None and not hmac.compare_digest(given, self.secret):
            what = "another one came" if given else "none came"
            sentence = f"expected the header 'Authorization: Bearer TOKEN' with the service's token; {what}."
            raise Refusal(401, sentence, www_authenticate="Bearer")

    async def _read(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            came = kind.decode("latin-1")[:60] or "nothing"
            raise Refusal(415, f"expected the header 'Content-Type: application/json', got {came!r}. Send JSON.")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self.settings.max_body:
            raise too_large(self.settings.max_body)
        return await read_body(receive, self.settings.max_body)

    def _sharing(self, headers: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """Allow pages of the one other site that may call, if the request is from there."""
        allowed = self.settings.allow_origin
        origin = headers.get(b"origin", b"").decode("latin-1")
        if allowed is None or not origin or allowed not in ("*", origin):
            return []
        return [(b"access-control-allow-origin", allowed.encode()), (b"vary", b"Origin")]

    def _answer_other_site(self, headers: dict[bytes, bytes]) -> Response:
        """Tell a browser whether a page of another site may call."""
        if self._sharing(headers):
            return Response(None, 204, PERMISSIONS)
        sentence = "pages of other sites may not call this service. Start it with --allow-origin for this one."
        return Refusal(403, sentence).answer()


def _bucket(scope: Scope) -> str:
    client = scope.get("client")
    return bucket_of(client[0][:64]) if client else ""  # a proxy may call a client anything


def _check_host(headers: dict[bytes, bytes]) -> None:
    """Refuse a name that somebody else made lead to this machine, so that pages of theirs could ask us anything."""
    host = headers.get(b"host", b"").decode("latin-1").lower()
    name = host.rpartition(":")[0] if re.search(r":\d*$", host) and not host.endswith("]") else host
    if name and name != "localhost" and not name.endswith(".localhost") and not _is_address(name):
        raise Refusal(
            403,
            f"expected this machine's address or localhost as the host, got {name[:60]!r}. For other names start the "
            "service with a token, or let the proxy before it send the host localhost.",
        )


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return False
