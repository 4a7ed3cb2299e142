"""``/docs``: the OpenAPI document as a page that needs nothing from elsewhere, not even a script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from fencepost.drawing.markup import Markup, element, join

_HEAD: Final = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>fencepost API</title>\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<link rel="icon" href="/page/icon.svg">\n<link rel="stylesheet" href="/page/style.css">\n</head>\n'
)


def docs_page(openapi: Mapping[str, Any], address: str) -> str:
    """The page for an OpenAPI document; ``address`` is that of the server."""
    info = openapi["info"]
    parts = [
        element("p", element("a", "← fencepost", href="/")),
        element("h1", f"fencepost API, version {info['version']}"),
        _paragraph(info["description"]),
        element("p", "The same for programs: ", element("a", "openapi.json", href="/openapi.json"), "."),
        *(
            _endpoint(method.upper(), path, about, address)
            for path, methods in openapi["paths"].items()
            for method, about in methods.items()
        ),
    ]
    return _HEAD + element("body", element("main", *parts, class_="docs")) + "\n</html>\n"


def _endpoint(method: str, path: str, about: Mapping[str, Any], address: str) -> Markup:
    anchor = f"{method.lower()}-{path.strip('/').replace('/', '-').replace('.', '-') or 'root'}"
    return element(
        "section",
        element("h2", element("code", f"{method} {path}"), f" {about['summary']}", id=anchor),
        _paragraph(about.get("description", "")),
        _block(about["x-curl"].replace("URL", address)),
        *_fields(about),
        *_answers(about["responses"]),
    )


def _fields(about: Mapping[str, Any]) -> Iterator[Markup]:
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    properties = content.get("schema", {}).get("properties")
    if properties:
        rows = (
            (name, each.get("description", ""), json.dumps(each.get("default"))) for name, each in properties.items()
        )
        yield _table(("field", "meaning", "default"), rows, coded=(0, 2))


def _answers(responses: Mapping[str, Any]) -> Iterator[Markup]:
    rows = ((status, answer["description"]) for status, answer in responses.items() if answer["description"])
    yield _table(("status", "meaning"), rows, coded=(0,))
    example = responses.get("200", {}).get("content", {}).get("application/json", {}).get("example")
    if example is not None:
        yield _block(json.dumps(example, ensure_ascii=False, indent=2))


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]], coded: tuple[int, ...]) -> Markup:
    cells = (
        join(
            element("td", element("code", cell) if index in coded else _inline(cell)) for index, cell in enumerate(row)
        )
        for row in rows
    )
    names = element("tr", join(element("th", name, scope="col") for name in head))
    return element("table", element("thead", names), element("tbody", join(element("tr", row) for row in cells)))


def _paragraph(text: str) -> Markup:
    return element("p", _inline(text)) if text else Markup("")


def _inline(text: str) -> Markup:
    """Text in which backticks mark code."""
    return join(element("code", part) if index % 2 else part for index, part in enumerate(text.split("`")))


def _block(text: str) -> Markup:
    return element("pre", element("code", text), tabindex="0")
