from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.errors import InputError, UsageError, WorkerError
from fencepost.export.onnx import export_onnx
from fencepost.features.batching import cost
from fencepost.parsing import pool, workers
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.parsing.pool import _answer
from fencepost.parsing.workers import Workers, parse_with_workers
from fencepost.training.train import train
from fencepost.trees.treebank import Sentence, Treebank
from tests.grammar import toy_trees
from tests.samples import tiny_config

SENTENCES = [tree.words() for tree in toy_trees(60, seed=5)]
LONG = [["cats"] * 1_500] * 8  # which takes a while


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported model: it starts in a fraction of the time."""
    trees, path = toy_trees(20), tmp_path_factory.mktemp("workers")
    train(tiny_config(max_epochs=1), trees, trees, path / "model")
    export_onnx(path / "model", path / "exported")
    return path / "exported"


@pytest.fixture(scope="module")
def parser(folder: Path) -> Parser:
    return load(folder)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, and so few sentences before they are used."""
    monkeypatch.setattr(workers, "FEW", 7)
    monkeypatch.setattr(workers, "usable_cores", lambda: 2)


def test_two_processes_give_the_trees_of_one_in_the_same_order(parser: Parser) -> None:
    assert list(parse_with_workers(parser, SENTENCES, 2)) == parser.parse(SENTENCES)


@pytest.mark.usefixtures("few")
def test_without_a_number_processes_start_only_for_many_sentences(parser: Parser) -> None:
    sentences = [["It", "works"]] * 60
    trees = parse_with_workers(parser, sentences, batch_tokens=6 * cost(2))  # chunks of 1, 6, 24 and 29 sentences
    for _ in range(7):
        next(trees)
    assert not multiprocessing.active_children()
    next(trees)
    assert len(multiprocessing.active_children()) == 2
    trees.close()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("few")
def test_without_a_number_no_sentence_is_lost_between_this_process_and_the_others(parser: Parser) -> None:
    assert list(parse_with_workers(parser, SENTENCES)) == parser.parse(SENTENCES)


@pytest.mark.parametrize(("workers", "budget", "largest"), [(1, 2_000, None), (2, 2_000, 16_000), (4, 40_000, 80_000)])
def test_a_process_gets_enough_for_two_batches(parser: Parser, workers: int, budget: int, largest: int | None) -> None:
    assert Workers(parser, workers).largest_chunk(budget) == largest


def test_nothing_in_gives_nothing_out_and_starts_nothing(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "Pool", None)
    assert list(parse_with_workers(parser, [], 2)) == []


def test_endless_input_is_read_a_bounded_way_ahead(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CHUNK", 4 * cost(2))
    read = 0

    def endless() -> Iterator[list[str]]:
        nonlocal read
        while True:
            read += 1
            yield ["It", "works"]

    trees = parse_with_workers(parser, endless(), 2, batch_tokens=4 * cost(2))
    for _ in range(100):
        next(trees)
    assert read <= 100 + pool.AHEAD * 2 * 4 + 1  # the first sentence of the next chunk shows that a chunk is full
    trees.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()


def test_a_sentence_that_cant_be_parsed_is_named_by_its_place_in_the_whole_input(parser: Parser) -> None:
    with pytest.raises(InputError, match="sentence 61 has no words"):
        list(parse_with_workers(parser, [*SENTENCES, []], 2))


def test_trees_of_the_sentences_before_a_bad_one_come_first(parser: Parser) -> None:
    trees = parse_with_workers(parser, [*SENTENCES, []], 2)
    assert [next(trees) for _ in SENTENCES] == parser.parse(SENTENCES)
    with pytest.raises(InputError, match="sentence 61 has no words"):
        next(trees)


def test_a_chunk_without_sentences_keeps_its_place_and_starts_nothing(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        job, (first, second) = parser.best_trees(), list(parser.checked(SENTENCES[:2]))
        assert list(crew.do_chunks(job, [[], []])) == [[], []]
        assert not multiprocessing.active_children()
        results = list(crew.do_chunks(job, [[first], [], [second], []]))
    assert [[tree.words() for tree, _ in chunk] for chunk in results] == [[SENTENCES[0]], [], [SENTENCES[1]], []]


def test_no_chunk_is_asked_for_that_would_have_to_be_waited_for_while_results_are_due(parser: Parser) -> None:
    job, (sentence,) = parser.best_trees(), list(parser.checked(SENTENCES[:1]))
    finished = 0

    def typed() -> Iterator[list[Sentence]]:
        for number in range(4):
            assert finished == number
            yield [sentence]

    with Workers(parser, 2) as crew:
        for _ in crew.do_chunks(job, typed(), is_waiting=lambda: True):
            finished += 1
    assert finished == 4


def test_a_failure_inside_a_process_names_the_sentence() -> None:
    def work(sentences: list[Sentence]) -> list[Sentence]:
        if Sentence(("bad",)) in sentences:
            raise MemoryError("too long")
        return sentences

    error = _answer(work, 40, [Sentence(("fine",)), Sentence(("bad",))])
    assert isinstance(error, WorkerError)
    assert error.message == "sentence 41 can't be parsed: MemoryError: too long"


def test_the_same_processes_analyze_one_list_after_another(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        for sentences in (SENTENCES[:9], SENTENCES[9:12], []):
            expected = list(parser.iter_analyze(sentences, 2))
            assert [found.trees for found in crew.iter_analyze(sentences, 2)] == [found.trees for found in expected]
        assert len(multiprocessing.active_children()) == 2
    assert not multiprocessing.active_children()


def test_a_killed_process_is_an_error_that_says_so(parser: Parser) -> None:
    trees = parse_with_workers(parser, [SENTENCES[0], *LONG], 2)
    next(trees)
    victim = multiprocessing.active_children()[0].pid
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(WorkerError, match="killed"):
        list(trees)
    assert not multiprocessing.active_children()


PROGRAM = """
import sys
from fencepost.parsing import pool

class Sleeper:
    def __init__(self, done): self.done = done
    def do(self, job, chunk):
        import os, pathlib, time
        pathlib.Path(self.done, str(os.getpid())).touch()
        time.sleep(60)

if __name__ == "__main__":
    crew = pool.Pool((Sleeper, (sys.argv[1],)), 2)
    list(crew.do(None, iter([(1, [1]), (2, [1])]), lambda: False))
"""


def test_processes_end_in_the_middle_of_their_work_when_the_main_process_is_killed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "working").mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    main_process = subprocess.Popen([sys.executable, "program.py", "working"], cwd=tmp_path, env=environment)
    deadline = time.monotonic() + 30
    while len(pids := [int(path.name) for path in (tmp_path / "working").iterdir()]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    main_process.kill()
    main_process.wait()
    while any(map(is_alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"  # ended, but not asked about


def test_after_a_killed_process_the_next_list_is_parsed_by_new_ones(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        trees = crew.iter_scored([SENTENCES[0], *LONG])
        next(trees)
        for process in multiprocessing.active_children():
            process.kill()
        with pytest.raises(WorkerError, match="killed"):
            list(trees)
        assert [tree for tree, _ in crew.iter_scored(SENTENCES)] == parser.parse(SENTENCES)


def test_a_process_killed_while_it_waits_is_replaced(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        list(crew.iter_scored(SENTENCES))
        for process in multiprocessing.active_children():
            process.kill()
            process.join()
        assert [tree for tree, _ in crew.iter_scored(SENTENCES)] == parser.parse(SENTENCES)


def test_after_an_error_in_the_input_the_next_list_is_parsed(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        with pytest.raises(InputError, match="sentence 61 has no words"):
            list(crew.iter_scored([*SENTENCES, []]))
        assert [tree for tree, _ in crew.iter_scored(SENTENCES)] == parser.parse(SENTENCES)


def test_who_leaves_early_loses_no_process_for_the_next_list(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        for _ in range(3):
            trees = crew.iter_scored(SENTENCES * 50)
            next(trees)
            trees.close()  # type: ignore[attr-defined]
        assert [tree for tree, _ in crew.iter_scored(SENTENCES)] == parser.parse(SENTENCES)
        assert crew._pool is not None
        assert len(crew._pool._free) == len(multiprocessing.active_children()) == 2


def test_who_takes_each_result_and_asks_for_no_more_keeps_the_processes(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        for _ in range(2):
            trees = crew.iter_scored(SENTENCES)
            for _ in SENTENCES:
                next(trees)
            processes = {process.pid for process in multiprocessing.active_children()}
            trees.close()  # type: ignore[attr-defined]
            assert {process.pid for process in multiprocessing.active_children()} == processes


def test_two_lists_at_once_have_the_trees_of_each(parser: Parser) -> None:
    expected = parser.parse(SENTENCES)
    with Workers(parser, 2) as crew:
        pairs = list(zip(crew.iter_scored(SENTENCES), crew.iter_scored(SENTENCES[::-1]), strict=True))
    assert [tree for (tree, _), _ in pairs] == expected
    assert [tree for _, (tree, _) in pairs] == expected[::-1]


def test_many_lists_at_once_leave_no_more_processes_than_asked_for(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        lists = [crew.iter_scored(SENTENCES) for _ in range(4)]
        found = [[tree for tree, _ in results] for results in zip(*lists, strict=True)]
        assert found == [[tree] * 4 for tree in parser.parse(SENTENCES)]
        assert len(multiprocessing.active_children()) <= 2


def test_results_that_are_asked_for_after_the_end_are_an_error_that_says_so(parser: Parser) -> None:
    with Workers(parser, 2) as crew:
        one, other = crew.iter_scored(SENTENCES * 100), crew.iter_scored(SENTENCES)
        next(one)
        next(other)
    for results in (one, other):
        with pytest.raises(UsageError, match="have ended"):
            list(results)


def test_less_than_one_worker_is_refused(parser: Parser) -> None:
    with pytest.raises(UsageError, match="workers must be at least 1, got 0"):
        Workers(parser, 0)


def test_evaluate_takes_workers(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Treebank(toy_trees(20)).save(tmp_path / "gold.txt")
    figures = []
    for count in ("1", "2"):
        assert main(["evaluate", str(folder), str(tmp_path / "gold.txt"), "--workers", count]) == 0
        figures.append(capsys.readouterr().out)
    assert figures[0] == figures[1]


def test_parse_takes_workers(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("The cat sat on the mat. It slept.\n\n" * 20, "utf-8")
    outputs = []
    for count in ("1", "2"):
        arguments = ["parse", str(tmp_path / "text.txt"), "--model", str(folder), "--workers", count]
        assert main([*arguments, "--format", "json", "--probabilities"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 40


def test_each_line_that_is_typed_is_answered_before_the_next_also_with_workers(folder: Path) -> None:
    command = [sys.executable, "-m", "fencepost", "parse", "--lines", "--model", str(folder), "--workers", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for typed in (b"It works.\n", b"The cat sat.\n\n", b"\n", b"It works.\nIt slept.\n"):
            process.stdin.write(typed)
            process.stdin.flush()
            answers = [process.stdout.readline() for _ in typed.splitlines()]
            assert [answer == b"\n" for answer in answers] == [line == b"" for line in typed.splitlines()]
        process.stdin.close()
        assert process.stdout.read() == b""


def test_sentences_are_counted_through_all_lists(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []

    def do(
        self: object, job: object, chunks: Iterator[tuple[int, list[Sentence]]], is_waiting: object
    ) -> Iterator[list[int]]:
        numbers.extend(first for first, _ in chunks)
        yield from ()

    monkeypatch.setattr(pool.Pool, "do", do)
    with Workers(parser, 2) as crew:
        for sentences in (SENTENCES[:5], SENTENCES[5:7]):
            list(crew.iter_scored(sentences))
    assert numbers == [1, 2, 6, 7]


def test_an_interruption_ends_all_processes_without_a_traceback(folder: Path) -> None:
    program = f"""
import itertools, multiprocessing, signal, sys
from fencepost import load
from fencepost.parsing.workers import parse_with_workers
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for tree in parse_with_workers(load({str(folder)!r}), itertools.repeat(["It", "works"]), 2):
            print(tree, flush=True)
    except KeyboardInterrupt:
        sys.exit(len(multiprocessing.active_children()))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=30)  # it takes less than a second
    assert (process.returncode, errors) == (0, b"")
