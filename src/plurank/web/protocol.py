"""HTTP whose requests begin with a small head that arrives soon, so that nobody keeps a worker busy reading one."""

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 2**16  # bytes of address and headers, give or take what is read at once
HEAD_SECONDS = 30.0


class CarefulProtocol(HttpToolsProtocol):
    """Uvicorn's protocol, which waits for any number of headers of any length for any time, with bounds."""

    timer: TimerHandle | None = None
    head: int | None = None  # bytes of a head that is not complete, None where none is awaited

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Await the first request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Await nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Await the rest of a head."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """Go on with a request whose head is complete."""
        self._stop_waiting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head has become too long."""
        super().data_received(data)
        if self.head is not None:
            self.head += len(data)
            if self.head > MOST_HEAD:
                self._hang_up(f"The address and headers of a request may have {MOST_HEAD:,} bytes.")

    def _await_head(self) -> None:
        self._stop_waiting()
        self.head = 0
        late = f"The address and headers of a request must arrive within {HEAD_SECONDS:.0f} seconds."
        self.timer = self.loop.call_later(HEAD_SECONDS, self._hang_up, late)

    def _stop_waiting(self) -> None:
        self.head = None
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _hang_up(self, sentence: str) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.send_400_response(sentence)
