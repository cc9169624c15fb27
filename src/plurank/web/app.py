"""The application: a model behind the door, with its addresses and what happens when something goes wrong."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from threadpoolctl import threadpool_limits

from plurank.exceptions import PlurankError
from plurank.models.base import RankingModel
from plurank.web import interface, mistakes
from plurank.web.batching import Batching
from plurank.web.door import Door
from plurank.web.holder import Holder
from plurank.web.page_files import VegaBundle, read_page
from plurank.web.permissions import Permissions
from plurank.web.refusals import Refusal
from plurank.web.routes import add_routes
from plurank.web.served import Served
from plurank.web.settings import Settings, found_by_worker
from plurank.web.survey import AskedPairs
from plurank.web.work import Computer

if TYPE_CHECKING:
    from plurank.web.feedback import FeedbackStore


class Service:
    """All that the addresses use."""

    def __init__(self, holder: Holder, store: "FeedbackStore | None", settings: Settings) -> None:
        self.holder, self.computer, self.settings = holder, Computer(), settings
        self.permissions = Permissions(settings)
        self.asked = AskedPairs(() if store is None else store.count_pairs())
        self.batching = None if store is None else Batching(store)
        self.page, self.vega = read_page(), VegaBundle()

    @property
    def served(self) -> Served:
        """The model in use now."""
        return self.holder.served

    @asynccontextmanager
    async def live(self, _: FastAPI) -> AsyncIterator[None]:
        """Follow the model's file as long as the application runs, and let go of everything after."""
        self.computer.start()
        self.holder.start()
        yield
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        self.holder.stop()
        self.computer.close()
        if self.batching is not None:
            self.batching.store.close()


def create_app(model: str | PathLike[str] | RankingModel, settings: Settings, *, parent: int | None = None) -> FastAPI:
    """Make the application that serves a model, or the file of one, which it then follows.

    ``parent``: the process without which a worker shall not go on.
    """
    threadpool_limits(1, "blas")  # matrices are small, and requests share the cores
    holder = Holder(model, parent)
    service = Service(holder, _open_store(settings.feedback), settings)
    # the page that shows the interface would load scripts from elsewhere
    app = FastAPI(title="plurank", lifespan=service.live, docs_url=None, redoc_url=None, openapi_url=None)
    add_routes(app, service)
    interface.add(app, service)
    # the page's own files hold nothing of the model, so that a browser may load them before it has a token
    posted = {route.path for route in app.routes if isinstance(route, Route) and "POST" in (route.methods or ())}
    open_paths = {"/health", "/vega.js", *service.page}
    app.add_middleware(Door, settings=settings, open_paths=open_paths, posted_paths=posted)
    for kind, answer in HANDLERS.items():
        app.add_exception_handler(kind, answer)
    app.state.service = service
    return app


def _open_store(database: str | None) -> "FeedbackStore | None":
    if database is None:
        return None
    from plurank.web.feedback import FeedbackStore  # loads what talks to databases, which takes a while

    return FeedbackStore(database, create=True)


def create_worker_app() -> FastAPI:
    """Make the application in a worker process, of what its parent left for it."""
    logging.basicConfig(format="%(message)s")
    model, settings, parent = found_by_worker()
    return create_app(model, settings, parent=parent)


async def _refuse(_: Request, error: Any) -> Response:
    return mistakes.refuse(error).answer()


HANDLERS: dict[type[Exception], Any] = dict.fromkeys(
    (Refusal, PlurankError, RequestValidationError, HTTPException, Exception), _refuse
)
