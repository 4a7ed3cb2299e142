"""The endpoints of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from fencepost import __version__
from fencepost.errors import FencepostError
from fencepost.parsing.records import sentence_record
from fencepost.serve import description
from fencepost.serve.answering import parse_sentences
from fencepost.serve.aside import Aside
from fencepost.serve.batching import Parsed, Wish
from fencepost.serve.bodies import read_body
from fencepost.serve.corenlp import CoreNlpRequest, read_corenlp, read_tregex, root_brackets
from fencepost.serve.docs_page import docs_page
from fencepost.serve.failures import (
    BusyError,
    InvalidError,
    RequestError,
    UnavailableError,
    UnsupportedError,
    internal_error,
)
from fencepost.serve.guard import PAGE, PROBLEMS, Guard
from fencepost.serve.metrics import MODEL_COUNTERS, Metrics
from fencepost.serve.models import Models
from fencepost.serve.noticing import Noticing
from fencepost.serve.requests import read_request
from fencepost.serve.searching import MOST_MATCHES, MOST_WAITING, Searcher, read_search
from fencepost.serve.settings import Settings
from fencepost.serve.token import TokenCheck
from fencepost.trees.label_names import label_names

FILES: Final = Path(__file__).parent / "page"
LINES: Final = "application/x-ndjson"
PAUSE: Final = 0.5  # seconds before a busy server refuses: clients that try again at once would take the model's time
FRESH: Final = 1.0  # seconds between two updates of the figures that other processes read
SPLITTING: Final = 2  # threads that split texts into tokens: with one, a long text would hold up short ones
RETRY_AFTER: Final = {"Retry-After": "2"}


def build_app(settings: Settings, load: Callable[..., Models] = Models.load) -> ASGIApp:
    """The application. The models are loaded when it starts, before the server accepts connections."""
    metrics = Metrics(settings.metrics_folder)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        noting = asyncio.create_task(_note_often(models, metrics))
        yield
        noting.cancel()
        await asyncio.to_thread(models.close)  # the event loop still cancels the requests that took too long
        _note(models, metrics)
        searches.close()
        splitting.close()
        searcher.close()

    models = load(settings, _report)
    searcher = Searcher()
    searches = Aside("searches", threads=1, most=MOST_WAITING, timeout=settings.timeout)
    splitting = Aside("texts", threads=SPLITTING, most=settings.max_requests, timeout=settings.timeout)
    app = FastAPI(
        title="fencepost",
        version=__version__,
        description=description.ABOUT,
        lifespan=lifespan,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
    )
    app.add_exception_handler(RequestError, _failed)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _broken)
    _add_parsing(app, models, settings)
    _add_search(app, searcher, searches, settings)
    _add_corenlp(app, models, settings, searcher, searches, splitting)
    _add_status(app, models, metrics)
    _add_pages(app)
    if settings.token is not None:
        app.add_middleware(TokenCheck, token=settings.token)
    if settings.cors:  # the last one that is added is the first to see a request
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    return Guard(app, metrics, settings.access_log)


def _add_parsing(app: FastAPI, models: Models, settings: Settings) -> None:
    @app.post("/v1/parse", **description.PARSE)
    async def parse(request: Request) -> Response:
        asked = read_request(await read_body(request, settings))
        name, batcher = models.find(asked.model, functions=asked.functions)
        language = batcher.parser.text_language
        noticing = Noticing(asked.sentences(language), language, name)
        wants_lines = asked.stream or LINES in request.headers.get("accept", "")
        parts = parse_sentences(
            batcher,
            noticing.sentences(),
            asked.wish,
            asked.size,
            settings.timeout,
            stream=wants_lines,
        )
        if wants_lines and asked.format == "json":
            first = await anext(parts)  # a request that can't be answered has its own status, not 200
            return StreamingResponse(_lines(first, parts, noticing), media_type=LINES)
        if asked.format == "brackets":
            trees = [_brackets(each) for part in [part async for part in parts] for each in part]
            return PlainTextResponse("".join(trees))
        sentences = [_line(each) async for part in parts for each in part]
        warnings = f', "warnings": {json.dumps(noticing.warnings)}' if noticing.warnings else ""
        body = f'{{"model": {json.dumps(name)}, "sentences": [{", ".join(sentences)}]{warnings}}}'
        return Response(body, media_type="application/json")

    @app.get("/v1/models", **description.MODELS)
    async def list_models() -> Response:
        return JSONResponse({"models": models.describe(), "version": __version__})

    @app.get("/v1/labels", **description.LABELS)
    async def list_labels() -> Response:
        named = {
            kind: {label: name._asdict() for label, name in names.items()} for kind, names in label_names().items()
        }
        return JSONResponse(named, headers={"Cache-Control": "no-cache"})


def _add_search(app: FastAPI, searcher: Searcher, searches: Aside, settings: Settings) -> None:
    @app.post("/v1/search", **description.SEARCH)
    async def search(request: Request) -> Response:
        asked = read_search(await read_body(request, settings))
        found = await searches.run(lambda _: searcher.search(asked.pattern, asked.trees))
        return JSONResponse({"matches": found, "truncated": len(found) >= MOST_MATCHES})


def _add_corenlp(
    app: FastAPI, models: Models, settings: Settings, searcher: Searcher, searches: Aside, splitting: Aside
) -> None:
    async def parsed(asked: CoreNlpRequest) -> list[Parsed]:
        batcher = models.find_language(asked.language)
        found = asked.sentences(batcher.parser.text_language)
        parts = parse_sentences(batcher, found, Wish(), len(asked.text), settings.timeout)
        return [each async for part in parts for each in part]

    async def annotate(request: Request) -> Response:
        body = await read_body(request, settings)
        asked = read_corenlp(request.query_params, body, request.headers.get("content-type", ""))
        if asked.needs_model:
            sentences = [asked.answer(number, each) for number, each in enumerate(await parsed(asked))]
        else:
            language = models.find_language(asked.language).parser.text_language
            sentences = await splitting.run(lambda gives_up: _tokens(asked, language, gives_up))
        return Response(f'{{"sentences": [{", ".join(sentences)}]}}', media_type="application/json")

    async def tregex(request: Request) -> Response:
        body = await read_body(request, settings)
        asked = read_tregex(request.query_params, body, request.headers.get("content-type", ""))
        trees = [root_brackets(each.analysis.tree) for each in await parsed(asked.text)]
        found = await searches.run(lambda _: searcher.subtrees(asked.pattern, trees))
        return JSONResponse({"sentences": found})

    async def unsupported(request: Request) -> Response:
        name = request.url.path.strip("/")
        raise UnsupportedError(f"fencepost doesn't support {name}", hint="/tregex finds patterns in trees")

    app.post("/", **description.CORENLP)(_in_plain_text(annotate))
    app.post("/tregex", **description.TREGEX)(_in_plain_text(tregex))
    for path in ("/semgrex", "/tokensregex"):
        app.api_route(path, methods=["GET", "POST"], include_in_schema=False)(_in_plain_text(unsupported))


def _tokens(asked: CoreNlpRequest, language: str, gives_up: Callable[[], bool]) -> list[str]:
    try:
        return asked.tokens(language, gives_up)
    except FencepostError as error:
        raise InvalidError(error.message, hint=error.hint) from error


def _in_plain_text(answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Makes errors plain text: CoreNLP's clients show the body of an answer as it is."""

    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except RequestError as error:
            return PlainTextResponse(str(error), error.status, headers=await _headers(error))

    return answered


def _add_status(app: FastAPI, models: Models, metrics: Metrics) -> None:
    @app.get("/healthz", **description.HEALTHZ)
    @app.get("/live", include_in_schema=False)
    async def healthz() -> Response:
        return PlainTextResponse("ok\n")

    @app.get("/readyz", **description.READYZ)
    @app.get("/ready", include_in_schema=False)
    async def readyz() -> Response:
        if not models.are_ready:
            raise UnavailableError("a model isn't ready")
        return PlainTextResponse("ok\n")

    @app.get("/ping", include_in_schema=False)
    async def ping() -> Response:
        return PlainTextResponse("pong\n")

    @app.get("/metrics", **description.METRICS)
    async def read_metrics() -> Response:
        _note(models, metrics)
        return PlainTextResponse(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _note_often(models: Models, metrics: Metrics) -> None:
    """Keeps the figures of this process fresh: ``/metrics`` may be answered by another one."""
    while True:
        _note(models, metrics)
        await asyncio.sleep(FRESH)


def _note(models: Models, metrics: Metrics) -> None:
    figures = [batcher.figures for batcher in models.batchers().values()]
    counted = ("sentences", "words", "batches", "seconds")
    for name, field in zip(MODEL_COUNTERS, counted, strict=True):
        metrics.set(name, sum(getattr(each, field) for each in figures))
    metrics.set("fencepost_waiting_requests", sum(each.waiting for each in figures))
    metrics.note_process()


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(FILES / "index.html", headers={"Cache-Control": "no-cache"})

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return HTMLResponse(docs_page(app.openapi(), str(request.base_url).rstrip("/")))

    app.mount(PAGE, StaticFiles(directory=FILES), name="page")


async def _lines(first: list[Parsed], parts: AsyncIterator[list[Parsed]], noticing: Noticing) -> AsyncIterator[str]:
    """One line of JSON for each sentence. If something goes wrong, the last line says so."""
    yield "".join(f"{_line(each, noticing.take_warnings())}\n" for each in first)
    try:
        async for part in parts:
            yield "".join(f"{_line(each, noticing.take_warnings())}\n" for each in part)
    except RequestError as error:
        yield json.dumps(error.to_dict(), ensure_ascii=False) + "\n"


def _line(parsed: Parsed, warnings: Sequence[str] = ()) -> str:
    record: dict[str, Any] = {"document": parsed.document, **sentence_record(parsed.sentence, parsed.analysis)}
    if warnings:
        record["warnings"] = warnings
    return json.dumps(record, ensure_ascii=False)


def _brackets(parsed: Parsed) -> str:
    """As ``fencepost parse`` writes them: one tree per line, and an empty line after the k best of a sentence."""
    trees = parsed.analysis.trees
    return "".join(f"{one.tree}\n" for one in trees) + "\n" if trees else f"{parsed.analysis.tree}\n"


async def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return JSONResponse(error.to_dict(), error.status, headers=await _headers(error))


async def _headers(error: RequestError) -> dict[str, str]:
    if isinstance(error, BusyError):
        await asyncio.sleep(PAUSE)
    return RETRY_AFTER if isinstance(error, BusyError | UnavailableError) else {}


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "there is nothing at this address", 405: "this address doesn't support this method"}
    message = messages.get(error.status_code, str(error.detail))
    return JSONResponse({"error": message, "hint": "see /docs"}, error.status_code, headers=error.headers)


async def _broken(_: Request, error: Exception) -> Response:
    """The answer to a bug of ours. ``guard`` gets the exception, too, and logs it."""
    return JSONResponse(internal_error().to_dict(), internal_error().status)


def _report(error: BaseException) -> None:
    PROBLEMS.error("parsing failed", exc_info=error)
