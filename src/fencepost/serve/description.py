"""What the OpenAPI document and ``/docs`` say about each endpoint, with an example for curl."""

from __future__ import annotations

from typing import Any, Final

from fastapi.responses import PlainTextResponse

from fencepost.serve.requests import ParseRequest
from fencepost.serve.searching import LONGEST_PATTERN, SearchRequest

ABOUT: Final = (
    "A constituency parser: text in, labelled phrase-structure trees out. Errors have the fields "
    "`error` and, usually, `hint`."
)
_SENTENCE: Final = {
    "document": 0,
    "text": "It works.",
    "offset": 0,
    "tokens": [{"text": "It", "start": 0, "end": 2, "tag": "PRP"}],
    "tree": "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))",
    "score": 21.5,
    "constituents": [{"label": "S", "start": 0, "end": 3}],
}
_FAILURES: Final = {
    401: "the token is missing or wrong (only if the server asks for one)",
    408: "the body didn't arrive in time",
    413: "the body is too large",
    415: "the body is compressed",
    422: "the body isn't valid, a sentence is too long, or the model can't do what the request asks for",
    429: "too many requests are waiting; try again in a few seconds",
    503: "the answer takes too long, too many connections are open, or the server is stopping",
}


_STATUSES: Final = (401, 408, 413, 415, 422, 429, 503)
_IN_JSON: Final = {"application/json": {"example": {"error": "what is wrong", "hint": "what to do"}}}
_IN_TEXT: Final = {"text/plain": {"schema": {"type": "string"}, "example": "what is wrong\nhint: what to do"}}


def _failures(*statuses: int, content: dict[str, Any] = _IN_JSON) -> dict[int | str, dict[str, Any]]:
    """``content`` is not that of 401, which is answered in JSON before the endpoint is known."""
    return {
        status: {"description": _FAILURES[status], "content": _IN_JSON if status == 401 else content}
        for status in statuses
    }


def _text(description: str, example: str) -> dict[int | str, dict[str, Any]]:
    """A good answer in plain text."""
    content = {"text/plain": {"schema": {"type": "string"}, "example": example}}
    return {200: {"description": description, "content": content}}


def _body(media_type: str, content: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    return {"requestBody": {"required": required, "content": {media_type: content}}}


def _parse_schema() -> dict[str, Any]:
    """The fields of a request, with what pydantic's own description can't say: exactly one of text and tokens."""
    schema = ParseRequest.model_json_schema()
    given, missing = {"not": {"type": "null"}}, {"type": "null"}
    text = {"required": ["text"], "properties": {"text": given, "tokens": missing}}
    tokens = {"required": ["tokens"], "properties": {"tokens": given, "text": missing}}
    in_brackets = {"required": ["format"], "properties": {"format": {"const": "brackets"}}}
    in_a_stream = {"required": ["stream"], "properties": {"stream": {"const": True}}}
    return {**schema, "oneOf": [text, tokens], "not": {"allOf": [in_brackets, in_a_stream]}}


PARSE: Final[dict[str, Any]] = {
    "summary": "Parse text or tokens",
    "description": (
        "Give `text` or `tokens`. The answer has one object for each sentence. With `stream`, or the header "
        "`Accept: application/x-ndjson`, each sentence is sent as a line of JSON as soon as it is parsed. If something "
        "goes wrong on the way, the last line has `error`. If the text isn't in the model's language, `warnings` says "
        "so: beside `sentences`, or in one line of a stream. Positions of tokens count characters of "
        "their sentence, those of constituents count tokens."
    ),
    "responses": {
        200: {
            "description": "the sentences, in order",
            "content": {
                "application/json": {"example": {"model": "en", "sentences": [_SENTENCE]}},
                "application/x-ndjson": {"example": _SENTENCE},
                "text/plain": {"schema": {"type": "string"}, "example": _SENTENCE["tree"]},
            },
        },
        **_failures(*_STATUSES),
    },
    "openapi_extra": {
        **_body(
            "application/json",
            {"schema": _parse_schema(), "example": {"text": "It works.", "probabilities": True}},
        ),
        "x-curl": """curl -d '{"text": "It works.", "probabilities": true}' URL/v1/parse""",
    },
}
SEARCH: Final[dict[str, Any]] = {
    "summary": "Find a pattern in trees",
    "description": (
        "The pattern is in Tregex's language. Each match has the number of its `tree`, the number of its `node` in the "
        "tree (nodes count from the root, each before its children; a tag and its word are one), its `label`, its "
        "words from `start` to `end`, and the words of the nodes that the pattern `names`. At most 10,000 matches are "
        "returned."
    ),
    "responses": {
        200: {
            "description": "the matches, in order",
            "content": {
                "application/json": {
                    "example": {
                        "matches": [{"tree": 0, "node": 2, "label": "NP", "start": 0, "end": 1, "names": {}}],
                        "truncated": False,
                    }
                }
            },
        },
        **_failures(*_STATUSES),
    },
    "openapi_extra": {
        **_body(
            "application/json",
            {
                "schema": SearchRequest.model_json_schema(),
                "example": {"pattern": "NP < PRP", "trees": ["(TOP (S (NP (PRP It)) (VP (VBZ works))))"]},
            },
        ),
        "x-curl": """curl -d '{"pattern": "NP < PRP", "trees": ["(TOP (S (NP (PRP It)) (VP (VBZ works))))"]}' """
        """URL/v1/search""",
    },
}
MODELS: Final[dict[str, Any]] = {
    "summary": "List the models",
    "description": "The first model is the default. `functions` is true if a model predicts grammatical functions.",
    "responses": _failures(401),
    "openapi_extra": {"x-curl": "curl URL/v1/models"},
}
LABELS: Final[dict[str, Any]] = {
    "summary": "Explain the labels",
    "description": "What labels of phrases, tags and functions mean, each with an example.",
    "responses": _failures(401),
    "openapi_extra": {"x-curl": "curl URL/v1/labels"},
}
CORENLP: Final[dict[str, Any]] = {
    "summary": "Annotate as CoreNLP's server does",
    "description": (
        "For clients of Stanford CoreNLP. The body is the text. `properties` is a JSON object: `annotators` "
        "(`tokenize`, `ssplit`, `pos`, `parse`), `ssplit.eolonly`, `ssplit.isOneSentence`, `tokenize.whitespace`, "
        "`pipelineLanguage`. Errors are plain text."
    ),
    "responses": {
        200: {
            "description": "the sentences",
            "content": {"application/json": {"example": {"sentences": [{"index": 0, "parse": "(ROOT …)"}]}}},
        },
        **_failures(*_STATUSES, content=_IN_TEXT),
    },
    "openapi_extra": {
        **_body("text/plain", {"schema": {"type": "string"}, "example": "It works."}, required=False),
        "x-curl": """curl --data-binary 'It works.' -H 'Content-Type: text/plain' """
        """'URL/?properties=%7B%22annotators%22%3A%22tokenize%2Cssplit%2Cparse%22%7D'""",
    },
}
TREGEX: Final[dict[str, Any]] = {
    "summary": "Find a pattern in the trees of a text, as CoreNLP's server does",
    "description": (
        "The body is the text, and `pattern` a pattern in Tregex's language. The answer has one object for each "
        "sentence, with its matches by number: the subtree in `match`, and the named subtrees in `namedNodes`. Trees "
        "begin with ROOT and have no functions. Errors are plain text."
    ),
    "responses": {
        200: {
            "description": "the matches in each sentence",
            "content": {
                "application/json": {
                    "example": {"sentences": [{"0": {"match": "(NP (PRP It))\n", "namedNodes": [{"x": "(PRP It)\n"}]}}]}
                }
            },
        },
        **_failures(*_STATUSES, content=_IN_TEXT),
    },
    "openapi_extra": {
        "parameters": [
            {
                "name": "pattern",
                "in": "query",
                "required": True,
                "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_PATTERN},
                "description": "a pattern in Tregex's language, such as NP < PRP=x",
            }
        ],
        **_body("text/plain", {"schema": {"type": "string"}, "example": "It works."}, required=False),
        "x-curl": """curl --data-binary 'It works.' -H 'Content-Type: text/plain' """
        """'URL/tregex?pattern=NP%20%3C%20PRP%3Dx'""",
    },
}
HEALTHZ: Final[dict[str, Any]] = {
    "summary": "Check that the process is alive",
    "response_class": PlainTextResponse,
    "responses": _text("the process is alive", "ok"),
    "openapi_extra": {"x-curl": "curl URL/healthz"},
}
READYZ: Final[dict[str, Any]] = {
    "summary": "Check that the models are ready",
    "response_class": PlainTextResponse,
    "responses": {**_text("the models are ready", "ok"), **_failures(503)},
    "openapi_extra": {"x-curl": "curl URL/readyz"},
}
METRICS: Final[dict[str, Any]] = {
    "summary": "Counters for Prometheus",
    "response_class": PlainTextResponse,
    "responses": {**_text("the counters", "fencepost_sentences_total 7"), **_failures(401)},
    "openapi_extra": {"x-curl": "curl URL/metrics"},
}
