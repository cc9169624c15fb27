"""Who sends a request, as far as it helps to find ballot stuffing: a random cookie, and a keyed hash of the address."""

import hmac
import re
import secrets
from datetime import UTC, datetime
from typing import NamedTuple

COOKIE = "plurank_visitor"
DAYS = 30  # that a cookie lasts
SHAPE = re.compile(rb"(?:^|;\s*)plurank_visitor=([0-9a-f]{24})\.([0-9]{1,12})\.([0-9a-f]{32})(?:;|$)")


class Origin(NamedTuple):
    """Where a request comes from: the browser, when its cookie was issued, and the hash of the address."""

    visitor: str | None = None
    first_seen: str | None = None
    address: str | None = None


class Visitors:
    """Issues cookies that nobody else can make, and hashes addresses with a key that is stored nowhere.

    The key is drawn when the service starts, so hashes of one address are alike until it is started again.
    """

    def __init__(self, secret: str, *, is_framed: bool) -> None:
        self.secret = secret.encode()
        # in a frame of another site only such cookies are sent
        self.rules = "SameSite=None; Secure; Partitioned" if is_framed else "SameSite=Lax"

    def recognise(self, cookies: bytes, bucket: str) -> Origin:
        """Return where a request comes from; without a cookie of ours the browser is not known."""
        address = self._sign(f"address {bucket}") if bucket else None
        found = SHAPE.search(cookies)
        if found is None:
            return Origin(address=address)
        visitor, issued, signature = (part.decode() for part in found.groups())
        if not hmac.compare_digest(signature, self._sign(f"visitor {visitor} {issued}")):
            return Origin(address=address)
        return Origin(visitor, datetime.fromtimestamp(int(issued), UTC).isoformat(), address)

    def issue(self) -> bytes:
        """Return the header value of a new cookie."""
        visitor, issued = secrets.token_hex(12), int(datetime.now(UTC).timestamp())
        value = f"{visitor}.{issued}.{self._sign(f'visitor {visitor} {issued}')}"
        return f"{COOKIE}={value}; Path=/; Max-Age={DAYS * 86_400}; HttpOnly; {self.rules}".encode()

    def _sign(self, text: str) -> str:
        return hmac.new(self.secret, text.encode("utf-8", "backslashreplace"), "sha256").hexdigest()[:32]
