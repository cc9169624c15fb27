"""How much one client may ask: requests a minute, bytes a request."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import Message, Receive

from plurank.web.refusals import Refusal

MAX_PAIRS, MAX_ANSWERS = 10_000, 1_000
MAX_ID, MAX_USER = 64, 200  # characters
MAX_CLIENTS = 10_000  # remembered at a time
BURST_SECONDS = 10  # a client that was quiet may send so many seconds' worth at once
BODY_SECONDS = 30.0  # for a request to arrive


class Buckets:
    """A bucket of permits for every client, filled at a steady rate. In memory, so each worker has its own."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second, self.clock = per_minute / 60.0, clock
        self.most = max(1.0, self.per_second * BURST_SECONDS)
        self.filled: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take a permit; give how many seconds are missing to the next one, 0 where there was one."""
        if not self.per_second:
            return 0.0
        now = self.clock()
        permits, since = self.filled.pop(client, (self.most, now))
        permits = min(self.most, permits + (now - since) * self.per_second)
        allowed = permits >= 1.0
        self.filled[client] = (permits - allowed, now)
        if len(self.filled) > MAX_CLIENTS:
            self.filled.popitem(last=False)
        return 0.0 if allowed else (1.0 - permits) / self.per_second


def bucket_of(address: str) -> str:
    """Name the bucket of an address; a household with IPv6 has 2^64 addresses, and one bucket."""
    if ":" not in address or "." in address:
        return address
    return ":".join(_spell_out(address.partition("%")[0])[:4])


def _spell_out(address: str) -> list[str]:
    head, _, tail = address.partition("::")
    left, right = [part for part in head.split(":") if part], [part for part in tail.split(":") if part]
    return [*left, *["0"] * (8 - len(left) - len(right)), *right]


async def read_body(receive: Receive, most: int) -> bytes:
    """Read a request's body, but never more than ``most`` bytes, whatever the client announced."""
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more and size <= most:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(400, "the connection ended before the request did. Send it again.")
                parts.append(message.get("body", b""))
                size, more = size + len(parts[-1]), message.get("more_body", False)
    except TimeoutError:
        raise Refusal(408, f"the request took over {BODY_SECONDS:.0f} seconds to arrive. Send it again.") from None
    if size > most:
        raise too_large(most)
    return b"".join(parts)


def too_large(most: int) -> Refusal:
    """Refuse a body."""
    return Refusal(413, f"a request may have {most:,} bytes, and this one has more. Send several.", connection="close")


def replay(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read already to whoever asks for it next."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again
