"""Access control: host, rate and size limits, tokens, permissions, visitor cookies, and security headers."""

import asyncio
import hmac
import ipaddress
import math
import re
import secrets
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import NamedTuple

from cachetools import LRUCache
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plurank.web.configuration import ServiceSettings
from plurank.web.responses import RequestError

MAX_CLIENTS = 10_000  # whose rate is tracked at a time
BURST_SECONDS = 10  # a client that was idle may send so many seconds' worth of requests at once
BODY_SECONDS = 30.0  # for a body to arrive
CONTENT_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors {}"
SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
COOKIE = "plurank_visitor"
COOKIE_DAYS = 30
COOKIE_PATTERN = re.compile(rb"(?:^|;\s*)plurank_visitor=([0-9a-f]{24})\.([0-9]{1,12})\.([0-9a-f]{32})(?:;|$)")
COOKIE_PATHS = ("/", "/next-pair", "/feedback")
SENDER = "plurank.sender"  # key of the Sender in an ASGI scope


class SecurityMiddleware:
    """Checks requests before the application sees them, and adds security headers to every response."""

    def __init__(
        self, app: ASGIApp, settings: ServiceSettings, open_paths: Collection[str], post_paths: Collection[str]
    ) -> None:
        self.app, self.settings = app, settings
        self.open_paths, self.post_paths = open_paths, post_paths
        self.rates = RateLimiter(settings.rate)
        self.authorization = None if settings.token is None else f"Bearer {settings.token}".encode()
        self.cookies = VisitorCookies(settings.secret, is_framed=settings.allow_frame is not None)
        policy = CONTENT_POLICY.format(settings.allow_frame or "'none'")
        self.headers = [(b"content-security-policy", policy.encode()), *SECURITY_HEADERS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        added = [*self.headers, *self._identify(scope, headers)]
        is_head = scope["method"] == "HEAD"

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *added]
            elif is_head:
                message["body"] = b""
            await send(message)

        if is_head:
            scope = {**scope, "method": "GET"}
        try:
            receive = await self._check(scope, headers, receive)
        except RequestError as error:
            await error.response()(scope, receive, send_secured)
        else:
            await self.app(scope, receive, send_secured)

    async def _check(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """Return what the application receives; raise where the request is not allowed."""
        if self.settings.is_local:
            _check_host(headers)
        if scope["path"] != "/health":
            self._check_rate(scope)
        if scope["path"] not in self.open_paths:
            self._check_token(headers)
        if scope["method"] != "POST" or scope["path"] not in self.post_paths:
            return receive  # the application responds with 404 or 405, whatever the body is
        return _replay(await self._read_body(headers, receive), receive)

    def _identify(self, scope: Scope, headers: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """Store the sender in the scope; return the header that sets a cookie where the browser has none."""
        if self.settings.feedback is None or scope["path"] not in COOKIE_PATHS:
            return []
        sender = self.cookies.identify(headers.get(b"cookie", b""), _client_of(scope))
        scope[SENDER] = sender
        return [] if sender.visitor else [(b"set-cookie", self.cookies.issue())]

    def _check_rate(self, scope: Scope) -> None:
        wait = self.rates.seconds_to_wait(_client_of(scope))
        if wait:
            seconds = math.ceil(wait)
            message = f"the rate limit of {self.settings.rate:,.0f} requests per minute is exceeded. Wait {seconds} s."
            raise RequestError(429, message, retry_after=str(seconds))

    def _check_token(self, headers: dict[bytes, bytes]) -> None:
        given = headers.get(b"authorization", b"")
        if self.authorization is not None and not hmac.compare_digest(given, self.authorization):
            got = "a different one" if given else "no such header"
            message = f"expected the header 'Authorization: Bearer TOKEN' with the token of this service, got {got}."
            raise RequestError(401, message, www_authenticate="Bearer")

    async def _read_body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            got = kind.decode("latin-1")[:60] or "nothing"
            raise RequestError(415, f"expected the header 'Content-Type: application/json', got {got!r}. Send JSON.")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self.settings.max_body:
            raise _too_large(self.settings.max_body)
        return await _receive_body(receive, self.settings.max_body)


def _check_host(headers: dict[bytes, bytes]) -> None:
    """Raise for a host name other than localhost: DNS rebinding lets foreign pages reach this machine by their name."""
    host = headers.get(b"host", b"").decode("latin-1").lower()
    name = host.rpartition(":")[0] if re.search(r":\d*$", host) and not host.endswith("]") else host
    if name and name != "localhost" and not name.endswith(".localhost") and not _is_address(name):
        raise RequestError(
            403,
            f"expected localhost or an IP address as host, got {name[:60]!r}. For other names start the service with "
            "a token, or let the reverse proxy send the host localhost.",
        )


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return False


async def _receive_body(receive: Receive, max_bytes: int) -> bytes:
    """Return the body of a request; never reads more than ``max_bytes``, whatever its Content-Length is."""
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more and size <= max_bytes:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestError(400, "the connection was closed before the request was complete. Send it again.")
                parts.append(message.get("body", b""))
                size, more = size + len(parts[-1]), message.get("more_body", False)
    except TimeoutError:
        message_late = f"the request did not arrive within {BODY_SECONDS:.0f} seconds. Send it again."
        raise RequestError(408, message_late) from None
    if size > max_bytes:
        raise _too_large(max_bytes)
    return b"".join(parts)


def _too_large(max_bytes: int) -> RequestError:
    return RequestError(
        413, f"the body of a request must not exceed {max_bytes:,} bytes. Split it into several.", connection="close"
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that first returns a body that was read already."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return pending.pop() if pending else await receive()

    return receive_again


class RateLimiter:
    """A token bucket for every client, filled at a constant rate. In memory, so each worker process has its own."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second, self.clock = per_minute / 60.0, clock
        self.capacity = max(1.0, self.per_second * BURST_SECONDS)
        self.buckets: LRUCache[str, tuple[float, float]] = LRUCache(MAX_CLIENTS)  # permits left, and when

    def seconds_to_wait(self, client: str) -> float:
        """Take a permit and return 0; where there is none, return the seconds until there will be."""
        if not self.per_second:
            return 0.0
        now = self.clock()
        permits, since = self.buckets.get(client, (self.capacity, now))
        permits = min(self.capacity, permits + (now - since) * self.per_second)
        is_allowed = permits >= 1.0
        self.buckets[client] = (permits - is_allowed, now)
        return 0.0 if is_allowed else (1.0 - permits) / self.per_second


def _client_of(scope: Scope) -> str:
    client = scope.get("client")
    return client_key(client[0][:64]) if client else ""


def client_key(address: str) -> str:
    """Return what identifies a client: its address; the /64 network for IPv6, all of which is one household's."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a proxy may forward any text
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(parsed)


class Permissions:
    """What clients may see: results of a survey, and data about individual users of the model."""

    def __init__(self, settings: ServiceSettings) -> None:
        # requests that pass the middleware have sent the token where there is one
        self.results = not settings.hides_results or settings.token is not None
        self.people = settings.shows_people

    def check_results(self) -> None:
        """Raise where results are hidden."""
        if not self.results:
            raise RequestError(
                403,
                "this service runs a survey and hides its results, so that they do not influence answers. Start it "
                "with --show-results, or with a token for those who may see them.",
            )

    def check_people(self, *users: object) -> None:
        """Raise where one of the users is not None and people are hidden, whether or not the model knows the user."""
        if not self.people and any(user is not None for user in users):
            raise RequestError(
                403,
                "this service does not reveal data about individual users. Omit the user, send answers instead, or "
                "start it with --show-people or a token.",
            )


class Sender(NamedTuple):
    """Who sent a request: the browser, when its cookie was issued, and the keyed hash of the address."""

    visitor: str | None = None
    first_seen: str | None = None
    address: str | None = None


class VisitorCookies:
    """Issues signed cookies, and hashes addresses with a key that is stored nowhere; both help to find ballot stuffing.

    The key is drawn when the service starts, so hashes of one address are equal until it is started again.
    """

    def __init__(self, secret: str, *, is_framed: bool) -> None:
        self.secret = secret.encode()
        # in a frame of another site browsers send only such cookies
        self.attributes = "SameSite=None; Secure; Partitioned" if is_framed else "SameSite=Lax"

    def identify(self, cookies: bytes, client: str) -> Sender:
        """Return who sent a request; the browser is unknown without a valid cookie."""
        address = self._sign(f"address {client}") if client else None
        found = COOKIE_PATTERN.search(cookies)
        if found is None:
            return Sender(address=address)
        visitor, issued, signature = (part.decode() for part in found.groups())
        if not hmac.compare_digest(signature, self._sign(f"visitor {visitor} {issued}")):
            return Sender(address=address)
        return Sender(visitor, datetime.fromtimestamp(int(issued), UTC).isoformat(), address)

    def issue(self) -> bytes:
        """Return the value of a Set-Cookie header with a new cookie."""
        visitor, issued = secrets.token_hex(12), int(datetime.now(UTC).timestamp())
        value = f"{visitor}.{issued}.{self._sign(f'visitor {visitor} {issued}')}"
        return f"{COOKIE}={value}; Path=/; Max-Age={COOKIE_DAYS * 86_400}; HttpOnly; {self.attributes}".encode()

    def _sign(self, text: str) -> str:
        return hmac.new(self.secret, text.encode("utf-8", "backslashreplace"), "sha256").hexdigest()[:32]
