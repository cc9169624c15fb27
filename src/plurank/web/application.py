"""The ASGI application: a model with its endpoints, security middleware and error responses."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import PathLike
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from threadpoolctl import threadpool_limits

from plurank.exceptions import PlurankError
from plurank.kernels.threads import get_num_threads
from plurank.models.base import RankingModel
from plurank.web.configuration import ServiceSettings, import_from_parent
from plurank.web.database import FeedbackStore
from plurank.web.feedback import FeedbackWriter
from plurank.web.responses import RequestError, as_request_error
from plurank.web.routes import add_openapi, add_routes
from plurank.web.runtime import ModelWatcher, WorkerThreads
from plurank.web.security import Permissions, SecurityMiddleware
from plurank.web.service import ModelService
from plurank.web.static import VegaBundle, add_page, read_page
from plurank.web.survey import AskedPairs

MAX_PENDING_COMPUTATIONS = 200  # computations that may wait: more would wait for longer than any client


class Service:
    """Everything that the endpoints use."""

    def __init__(self, models: ModelWatcher, feedback: FeedbackWriter | None, settings: ServiceSettings) -> None:
        self.models, self.feedback, self.settings = models, feedback, settings
        self.threads = WorkerThreads(get_num_threads(), MAX_PENDING_COMPUTATIONS)
        self.permissions = Permissions(settings)
        self.asked = AskedPairs(() if feedback is None else feedback.store.count_pairs())
        self.page, self.vega = read_page(), VegaBundle()

    @property
    def model(self) -> ModelService:
        """The current model."""
        return self.models.current

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Watch the model file while the application runs, and release all resources after."""
        self.models.start()
        yield
        self.close()

    def close(self) -> None:
        """Release all resources."""
        self.models.stop()
        if self.feedback is not None:
            self.feedback.close()


def create_app(
    model: str | PathLike[str] | RankingModel, settings: ServiceSettings, *, parent: int | None = None
) -> FastAPI:
    """Create the application that serves a model, or a model file, which is reloaded when it changes.

    ``parent``: process id without which a worker process ends.
    """
    threadpool_limits(1, "blas")  # matrices are small, and requests share the cores
    models = ModelWatcher(model, parent)
    feedback = None if settings.feedback is None else FeedbackWriter(FeedbackStore(settings.feedback, create=True))
    service = Service(models, feedback, settings)
    # FastAPI's own pages about the API would load scripts from other sites
    app = FastAPI(title="plurank", lifespan=service.lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    add_routes(app, service)
    add_page(app, service)
    add_openapi(app, service)
    # the page's own files contain nothing of the model, and a browser loads them before it has a token
    post_paths = {route.path for route in app.routes if isinstance(route, Route) and "POST" in (route.methods or ())}
    open_paths = {"/health", "/vega.js", *service.page}
    app.add_middleware(SecurityMiddleware, settings=settings, open_paths=open_paths, post_paths=post_paths)
    if settings.allow_origin is not None:
        # the last one added comes first: preflight requests have no token, and pages must be able to read errors
        headers = ["Authorization", "Content-Type"]
        origins, methods = [settings.allow_origin], ["GET", "POST"]
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=methods, allow_headers=headers)
    for kind in (RequestError, PlurankError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _respond_to_error)
    app.state.service = service
    return app


def create_worker_app() -> FastAPI:
    """Create the application in a worker process."""
    logging.basicConfig(format="%(message)s")
    given = import_from_parent()
    return create_app(given.model, given.settings, parent=given.parent)


async def _respond_to_error(_: Request, error: Any) -> Response:
    return as_request_error(error).response()
