"""The other process that prepares batches: ``prefetch`` starts it, sends it a training set, and asks for batches.

It ends when its input does, so it doesn't outlive the process that started it. It doesn't import torch.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress
from typing import IO, Any, Final

from fencepost.training.data import TrainingSet  # takes longest, so it is imported before the training set arrives

READY: Final = None  # the first answer


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing that is printed may get between the answers
    with suppress(EOFError, pickle.UnpicklingError, BrokenPipeError, KeyboardInterrupt):
        _converse(sys.stdin.buffer, answers)
    os._exit(0)  # what is left to write has no reader


def _converse(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Reads a training set and the size of pieces, then lists of indices. Answers READY, then batches.

    Where something fails, the answer is the error as text.
    """
    data: TrainingSet
    try:
        data, batch_tokens = pickle.load(questions)
    except Exception as error:  # such as files of vectors that are gone
        _write(_text(error), answers)
        return
    _write(READY, answers)
    while True:
        indices = pickle.load(questions)
        try:
            answer: Any = data.flat(indices, batch_tokens)
        except Exception as error:
            answer = _text(error)
        _write(answer, answers)


def _write(answer: Any, answers: IO[bytes]) -> None:
    pickle.dump(answer, answers, protocol=5)
    answers.flush()


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
