from __future__ import annotations

import pickle

import pytest

from fencepost.errors import FencepostError, MissingExtraError, UnbalancedError, UsageError


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no such thing", hint="another"),
        MissingExtraError("torch", "train", "training"),
        UnbalancedError("a bracket is never closed", source="a.txt", line=3, excerpt="(S", hint="cut short?"),
    ],
)
def test_an_error_from_a_worker_process_arrives_whole(error: FencepostError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_an_input_error_names_its_place_and_quotes_what_stands_there() -> None:
    error = UnbalancedError("a bracket is never closed", source="a.txt", line=3, excerpt="(S")
    assert str(error) == "a.txt:3: a bracket is never closed: (S"
