"""``fencepost serve``: a server for programs, and a page for people."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Final

from fencepost.cli.shared import add_device_options, require_from_one
from fencepost.errors import MissingExtraError, UsageError

EXAMPLES: Final = """\
examples:
  fencepost serve
  fencepost serve --port 9000 --workers 4
  fencepost serve --model en my-model --host 0.0.0.0 --token-file token.txt

Then open http://127.0.0.1:8000 in a browser, or:
  curl -d '{"text": "It works."}' http://127.0.0.1:8000/v1/parse

Clients that send CoreNLP's requests work, too. http://127.0.0.1:8000/docs describes every endpoint.
Ctrl-C or SIGTERM stops the server after it has answered the requests under way.
"""
TOKEN: Final = "FENCEPOST_TOKEN"


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "serve",
        help="answer requests over HTTP, and show trees on a page",
        description="Answer requests over HTTP, and show trees on a page.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="listen on this address (default: only this machine)")
    parser.add_argument(
        "--port", type=int, default=8000, help="listen on this port (default: 8000; 0 chooses a free one)"
    )
    parser.add_argument(
        "--model",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="model folders or names of installed models (default: en)",
    )
    add_device_options(parser)
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes, each with its models (default: 1)"
    )
    parser.add_argument(
        "--max-body", type=int, default=1_000_000, metavar="BYTES", help="refuse larger requests (default: 1000000)"
    )
    parser.add_argument(
        "--max-words", type=int, default=1_000, metavar="N", help="refuse longer sentences (default: 1000)"
    )
    parser.add_argument(
        "--max-requests",
        type=int,
        default=256,
        metavar="N",
        help="refuse requests when this many are waiting in a process (default: 256)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="give up on a request after this time (default: 60)",
    )
    parser.add_argument(
        "--token-file",
        metavar="PATH",
        help=f"require this file's first line as a bearer token (or set {TOKEN})",
    )
    parser.add_argument(
        "--cors",
        nargs="+",
        action="extend",
        default=[],
        metavar="ORIGIN",
        help="let pages of these origins call the server (default: none)",
    )
    parser.add_argument("--no-access-log", action="store_true", help="don't log requests")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    require_from_one(arguments, "workers", "max_body", "max_words", "max_requests")
    if not 0 <= arguments.port <= 65_535:
        raise UsageError(f"--port must be between 0 and 65535, got {arguments.port}")
    if not arguments.timeout > 0:
        raise UsageError(f"--timeout must be greater than 0, got {arguments.timeout:g}")
    try:
        from fencepost.serve import server
        from fencepost.serve.settings import Settings
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "fastapi", "serve", "the server") from error

    settings = Settings(
        models=tuple(arguments.model or [None]),
        device=arguments.device,
        precision=arguments.precision,
        host=arguments.host,
        port=arguments.port,
        workers=arguments.workers,
        max_body=arguments.max_body,
        max_words=arguments.max_words,
        max_requests=arguments.max_requests,
        timeout=arguments.timeout,
        token=_token(arguments.token_file),
        cors=tuple(arguments.cors),
        access_log=not arguments.no_access_log,
    )
    server.run(settings, _announce)
    return 0


def _announce(address: str) -> None:
    sys.stderr.write(f"fencepost is at {address}\n")
    sys.stderr.flush()


def _token(path: str | None) -> str | None:
    """The token, without line ends. Command lines are visible to other users, so it can't be given there."""
    if path is None:
        return os.environ.get(TOKEN) or None
    with open(path, encoding="utf-8") as file:
        token = file.readline().strip()
    if not token:
        raise UsageError(f"{path}: the first line is empty", hint="write the token there")
    return token
