"""``POST /v1/search``."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from fencepost.serve.failures import UnavailableError
from fencepost.serve.searching import MOST_MATCHES, MOST_WAITING, Searcher
from tests.serve.serving import Answer, Client, in_thread, wait_for

TREES = [
    "(TOP (S (NP (NP (DT the) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))) (VP (VBD sat))))",
    "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))",
]


def search(client: Client, **fields: Any) -> Answer:
    return client.ask("POST", "/v1/search", json.dumps(fields))


def test_matches_have_their_place_in_the_trees(client: Client) -> None:
    assert search(client, pattern="NP=all < (PP=pp < IN)", trees=TREES).json() == {
        "matches": [
            {
                "tree": 0,
                "node": 2,
                "label": "NP",
                "start": 0,
                "end": 5,
                "names": {"all": {"start": 0, "end": 5}, "pp": {"start": 2, "end": 5}},
            }
        ],
        "truncated": False,
    }


def test_tags_and_words_count_as_one_node(client: Client) -> None:
    found = search(client, pattern="/^VB/", trees=TREES).json()["matches"]
    assert [(match["tree"], match["node"]) for match in found] == [(0, 12), (1, 5)]
    found = search(client, pattern="works", trees=TREES).json()["matches"]
    assert [(match["tree"], match["node"]) for match in found] == [(1, 5)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pattern": "NP < (", "trees": TREES}, "column 7: "),
        ({"pattern": "NP", "trees": ["(TOP (S"]}, "tree 1: "),
        ({"pattern": "NP"}, "trees is missing"),
        ({"pattern": "NP", "trees": "(TOP)"}, "trees must be a list of trees in brackets"),
        ({"pattern": "N" * 2_000, "trees": []}, "pattern: string should have at most 1000 characters"),
    ],
)
def test_a_pattern_or_a_tree_that_cannot_be_read_is_422(client: Client, fields: Any, message: str) -> None:
    answer = search(client, **fields)
    assert answer.status == 422
    assert answer.json()["error"].startswith(message)


def test_a_search_that_takes_too_long_is_ended_and_the_next_one_works() -> None:
    searcher = Searcher(seconds=0.5)
    wide = "(TOP (S " + "(NP (DT the) (NN cat)) " * 200 + "))"
    slow = "__ .. (__ .. (__ .. (__ .. (__=a .. __=b))))"
    with pytest.raises(UnavailableError, match=r"this search takes longer than 0\.5 seconds"):
        searcher.search(slow, [wide] * 100)
    assert len(searcher.search("NP < DT", TREES)) == 2
    searcher.close()


def test_a_process_that_was_killed_is_replaced() -> None:
    searcher = Searcher()
    assert len(searcher.search("PP", TREES)) == 1
    assert searcher._process is not None
    os.kill(searcher._process.pid or 0, signal.SIGKILL)
    searcher._process.join()
    assert len(searcher.search("PP", TREES)) == 1
    searcher.close()


def no_room(_: object) -> None:
    raise OSError("no room")


def test_a_process_that_cannot_start_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = Searcher()
    with monkeypatch.context() as patched:
        patched.setattr(SpawnProcess, "_Popen", staticmethod(no_room))
        with pytest.raises(OSError, match="no room"):
            searcher.search("PP", TREES)
    assert len(searcher.search("PP", TREES)) == 1
    searcher.close()


def test_many_matches_are_cut() -> None:
    searcher = Searcher(seconds=30)
    assert len(searcher.search("__", [TREES[0]] * 1_000)) == MOST_MATCHES
    searcher.close()


def test_too_many_searches_at_once_are_429_and_hold_up_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(Searcher, "search", lambda *_: go.wait(30) and [])
    with in_thread(tmp_path) as client, ThreadPoolExecutor(3 * MOST_WAITING) as clients:
        waiting = [clients.submit(search, client, pattern="NP", trees=TREES) for _ in range(3 * MOST_WAITING)]
        wait_for(lambda: sum(each.done() for each in waiting) == 2 * MOST_WAITING)
        properties = quote(json.dumps({"annotators": "tokenize"}))
        assert client.ask("POST", f"/?properties={properties}", "It works.").status == 200
        assert client.parse(text="It works.").status == 200
        go.set()
        answers = [each.result() for each in waiting]
    assert Counter(each.status for each in answers) == {200: MOST_WAITING, 429: 2 * MOST_WAITING}


def test_a_search_that_waits_for_too_long_is_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(Searcher, "search", lambda *_: go.wait(30) and [])
    with in_thread(tmp_path, timeout=0.2) as client:
        answer = search(client, pattern="NP", trees=TREES)
        go.set()
    assert answer.status == 503
    assert answer.json()["error"] == "this request takes longer than 0.2 seconds"
