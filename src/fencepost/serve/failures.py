"""What can go wrong with a request, each with its HTTP status. A message never contains a traceback."""

from __future__ import annotations

from typing import Any, ClassVar

from fencepost.errors import FencepostError


class RequestError(FencepostError):
    """A request that the server doesn't answer with trees."""

    status: ClassVar[int] = 500

    def to_dict(self) -> dict[str, Any]:
        return {"error": self.message} if self.hint is None else {"error": self.message, "hint": self.hint}


class UnauthorizedError(RequestError):
    status = 401


class TooSlowError(RequestError):
    """The client takes too long to send its request."""

    status = 408


class TooLargeError(RequestError):
    status = 413


class CompressedError(RequestError):
    """The body is compressed."""

    status = 415


class InvalidError(RequestError):
    """The body isn't what the endpoint reads."""

    status = 422


class BusyError(RequestError):
    """Too many requests wait for the model."""

    status = 429


class UnsupportedError(RequestError):
    """Something that CoreNLP's server does and this one doesn't."""

    status = 501


class UnavailableError(RequestError):
    """The server is stopping, or can't answer in time."""

    status = 503


class ClientGoneError(RequestError):
    """The connection was closed before the whole request arrived. Nobody reads the answer."""

    status = 499


def internal_error() -> RequestError:
    """The answer to a bug of ours. Its traceback is in the server's log."""
    return RequestError("the server failed to answer this request", hint="its log has the details")
