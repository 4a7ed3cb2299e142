"""Tables run end to end on toy trees: rows share weights, are not run twice, and go on after an interruption."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from fencepost.backends.torch import TorchBackend
from fencepost.cli.main import main
from fencepost.config.toml import load_config
from fencepost.evaluation.score import Score, score
from fencepost.experiments import measure
from fencepost.experiments.models import model_key
from fencepost.experiments.options import Options
from fencepost.experiments.runner import Runner
from fencepost.experiments.tables import load_table
from fencepost.experiments.treebanks import TreebankCache
from fencepost.model.plan import AttentionPlan
from fencepost.parsing.parser import Parser
from fencepost.training.trainer import Trainer
from fencepost.trees.treebank import Treebank
from tests.grammar import toy_trees

# The toy trees are English, whatever language a table is about.
pytestmark = pytest.mark.filterwarnings("ignore::fencepost.errors.LanguageWarning")
TINY = ("train.max_epochs=1", "encoder.d_model=32", "encoder.layers=8", "char_concat.size=1", "encoder.d_ff=16")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("treebank")
    trees = toy_trees(44)
    for part, some in (("train", trees[:32]), ("dev", trees[32:38])):
        Treebank(some).save(folder / f"{part}.txt")
    Treebank(trees[38:]).save(folder / "test.txt.gz")
    return folder


def reproduce(out: Path, table: str, *arguments: str) -> int:
    return main(["reproduce", table, "--out", str(out), "--smoke", "--set", *TINY, *arguments])


def rows(out: Path, table: str) -> dict[str, Any]:
    content = json.loads((out / f"{table}.json").read_text("utf-8"))
    return {row["row"]: row for row in content["rows"]}


def test_table_4_in_small(treebank: Path, tmp_path: Path) -> None:
    assert reproduce(tmp_path, "table4", "--treebank", str(treebank)) == 0
    found = rows(tmp_path, "table4")
    assert len(found) == 7
    assert all(0 <= row["measures"]["dev_f1"]["ours"] <= 100 for row in found.values())
    tags = found["words + tags"]["measures"]["dev_f1"]
    assert tags["published"] == 93.15
    assert tags["difference"] == pytest.approx(tags["ours"] - 93.15)
    page = (tmp_path / "table4.md").read_text("utf-8")
    assert "| words + tags | 93.15 |" in page
    assert "the treebank's own tags" in page
    assert "smoke test" in page


def test_rows_and_tables_of_one_model_train_it_once(treebank: Path, tmp_path: Path) -> None:
    for table in ("table1", "table2"):
        assert reproduce(tmp_path, table, "--treebank", str(treebank)) == 0
    assert len(list((tmp_path / "models").iterdir())) == 1
    assert len(rows(tmp_path, "table1")) == 7
    assert len(rows(tmp_path, "table2")) == 13


def test_models_are_found_by_the_names_that_they_have_always_had() -> None:
    of_the_text = "encoder.attention_scale=d_k"
    assert model_key(load_config("paper", [of_the_text]), "trees") == "d05967693c99"
    assert model_key(load_config("paper"), "trees") != "d05967693c99"
    assert model_key(load_config("paper", [of_the_text, "train.checkpoint_minutes=1"]), "trees") == "d05967693c99"


def test_a_row_is_measured_under_its_plan(treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[AttentionPlan] = []

    def accuracy(parser: Parser, trees: Treebank, gold: Treebank) -> Score:
        assert isinstance(parser._backend, TorchBackend)
        plans.append(parser._backend.plan)
        return score(gold, gold)

    monkeypatch.setattr(measure, "accuracy", accuracy)
    for table in ("table1", "table2"):
        assert reproduce(tmp_path, table, "--treebank", str(treebank)) == 0
    longest = load_config("paper").eval.longest
    lasts = [AttentionPlan(content=content, longest=longest) for content in ((5, 6, 7, 8), (3, 4, 5, 6, 7, 8))]
    windows = [AttentionPlan(window, relaxed, longest=longest) for window in (5, 40) for relaxed in (False, True)]
    assert len(plans) == 19  # "any distance" is measured once for both
    assert all(plan in plans for plan in [AttentionPlan(longest=longest), *lasts, *windows])
    assert len(set(plans)) == len(plans)


def test_a_row_that_is_done_is_not_done_again(treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(tmp_path, "table6", "--treebank", str(treebank))
    results = (tmp_path / "results.jsonl").read_text()
    before = rows(tmp_path, "table6")
    monkeypatch.setattr(Trainer, "step", lambda *_: pytest.fail("trained again"))
    assert reproduce(tmp_path, "table6", "--treebank", str(treebank)) == 0
    assert (tmp_path / "results.jsonl").read_text() == results
    assert rows(tmp_path, "table6") == before


def test_an_interrupted_row_goes_on_where_it_was(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    take_step, steps = Trainer.step, []

    def step(trainer: Trainer, batch: list[int]) -> None:
        steps.append(trainer.step_number)
        if len(steps) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        take_step(trainer, batch)

    monkeypatch.setattr(Trainer, "step", step)
    longer = ("--treebank", str(treebank), "--set", "train.max_epochs=3")
    assert reproduce(tmp_path, "table6", *longer) == 130
    assert reproduce(tmp_path, "table6", *longer) == 0
    assert "resumed at step 2" in capsys.readouterr().err
    assert steps == list(range(6))


def test_models_trained_side_by_side_give_the_same_tables(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    tables, given = "table1,table6,speed", ("--treebank", str(treebank), "--tags", "jackknife")
    assert reproduce(tmp_path / "one", tables, *given) == 0
    monkeypatch.setattr(Trainer, "step", lambda *_: pytest.fail("trained here, not in another process"))
    assert reproduce(tmp_path / "two", tables, *given, "--jobs", "2") == 0
    for table in ("table1", "table6"):
        one, two = (rows(tmp_path / out, table) for out in ("one", "two"))
        assert [row["measures"] for row in one.values()] == [row["measures"] for row in two.values()]
    assert rows(tmp_path / "two", "speed")["CharLSTM"]["measures"]["dev_seconds"]["ours"] > 0
    assert len(list((tmp_path / "two" / "models").iterdir())) == 2
    assert len(list((tmp_path / "two" / "logs").iterdir())) == 5  # two folds, the unseen trees, two models


def test_a_model_that_fails_beside_others_is_reported(
    treebank: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    no_number_survives = ("--set", "train.learning_rate=1e30", "train.max_epochs=4", "train.warmup_batches=0")
    assert reproduce(tmp_path, "table6", "--treebank", str(treebank), "--jobs", "2", *no_number_survives) == 1
    assert "failed with seed 1: the loss is" in rows(tmp_path, "table6")["CharLSTM"]["problem"]
    (log,) = (tmp_path / "logs").iterdir()
    assert "error: the loss is" in log.read_text("utf-8")
    assert f"CharLSTM, en, 1: not done, see {log}" in capfd.readouterr().err


def test_after_the_processes_there_is_nothing_left_to_measure(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("fencepost.experiments.runner.measure", lambda *_: pytest.fail("measured here"))
    assert reproduce(tmp_path, "table7", "--treebank", f"he/toy={treebank}", "--jobs", "2") == 0
    best = content_of(tmp_path, "table7")["rows"][2]["measures"]["test_f1"]
    assert best["ours"] > 0
    assert best["published"] is None  # of Hebrew, but of another treebank


def test_figures_that_depend_on_the_machine_are_not_taken_beside_others(treebank: Path, tmp_path: Path) -> None:
    options = Options(out=tmp_path, smoke=True, settings=TINY)
    runner = Runner(load_table("speed"), [("en", treebank)], options)
    runner.do(runner.table.row("CharLSTM"), "en", seed=1)
    assert len(list((tmp_path / "models").glob("*/done.json"))) == 1
    assert not (tmp_path / "results.jsonl").exists()


def test_a_tagger_that_fails_beside_others_concerns_only_rows_with_tags(tmp_path: Path) -> None:
    Treebank(toy_trees(1)).save(tmp_path / "train.txt")
    for part in ("dev", "test"):
        Treebank(toy_trees(3)).save(tmp_path / f"{part}.txt")
    options = Options(out=tmp_path / "out", smoke=True, settings=TINY, tags="jackknife")
    needed = Runner(load_table("table4"), [("en", tmp_path)], options).models_needed()
    assert {row.name for row in load_table("table4").rows} - {row.name for _, row, _, _ in needed} == {"words + tags"}


def test_parts_that_are_tagged_are_not_tagged_again(treebank: Path, tmp_path: Path) -> None:
    cache = TreebankCache(Options(out=tmp_path / "out", smoke=True, tags="jackknife"))
    gold = cache.gold("en", treebank)
    assert cache.parts_to_tag(gold) == [0, 1, 2]
    cache.tag_part(gold, 1)
    assert cache.parts_to_tag(gold) == [0, 2]
    cache.tag_part(gold, 2)
    cache.tag_part(gold, 0)
    assert cache.parts_to_tag(gold) == []


def test_two_treebanks_of_one_name_are_refused(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce(tmp_path, "table7", "--treebank", str(treebank), "--treebank", str(treebank.parent)) == 2
    assert "two treebanks are called en" in capsys.readouterr().err


def test_there_is_one_job_at_least(treebank: Path, tmp_path: Path) -> None:
    assert reproduce(tmp_path, "table6", "--treebank", str(treebank), "--jobs", "0") == 2


def test_several_seeds_give_mean_and_deviation(treebank: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, "table6", "--treebank", str(treebank), "--seeds", "1,2")
    row = rows(tmp_path, "table6")["CharLSTM"]
    one, two = (result["figures"]["test_f1"] for result in row["results"])
    assert row["measures"]["test_f1"]["ours"] == pytest.approx((one + two) / 2)
    assert row["measures"]["test_f1"]["deviation"] == pytest.approx(abs(one - two) / 2**0.5)
    assert "±" in (tmp_path / "table6.md").read_text("utf-8")


def test_some_rows_may_have_more_seeds_and_are_found_again(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = ["--treebank", str(treebank), "--seeds", "1,2", "--row", "CharLSTM", "--row", "words"]
    assert reproduce(tmp_path, "table4,table6", *some) == 0
    assert rows(tmp_path, "table4").keys() == {"words", "CharLSTM"}
    assert "--row CharLSTM --row words" in (tmp_path / "table4.md").read_text("utf-8")
    reproduce(tmp_path, "table4", "--treebank", str(treebank), "--seeds", "1,2", "--collect")
    done = {name: len(row["results"]) for name, row in rows(tmp_path, "table4").items()}
    assert done == {**dict.fromkeys(done, 0), "words": 2, "CharLSTM": 2}
    assert len(done) == 7
    assert main(["reproduce", "table4", "--treebank", str(treebank), "--out", str(tmp_path), "--row", "GRU"]) == 2
    assert 'no row is called "GRU"' in capsys.readouterr().err


def test_the_better_of_two_brings_both_along(treebank: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, "table7", "--treebank", f"he={treebank}", "--row", "better on development data")
    assert len(rows(tmp_path, "table7")) == 3


def test_a_row_that_lacks_something_says_so(treebank: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, "table6", "--treebank", str(treebank))
    row = rows(tmp_path, "table6")["pre-trained (ELMo in the paper)"]
    assert row["results"] == []
    assert "skipped: needs `--set pretrained.model=" in row["problem"]
    assert row["problem"] in (tmp_path / "table6.md").read_text("utf-8")


def test_the_better_of_two_on_development_data_goes_to_test_for_each_language(treebank: Path, tmp_path: Path) -> None:
    assert reproduce(tmp_path, "table7", "--treebank", f"he={treebank}", "--treebank", f"xx/toy={treebank}") == 0
    content = json.loads((tmp_path / "table7.json").read_text("utf-8"))
    assert [row["treebank"] for row in content["rows"]] == ["he"] * 3 + ["xx/toy"] * 3
    chars, words, best = content["rows"][:3]
    scores = [row["measures"]["dev_f1"]["ours"] for row in (chars, words)]
    assert best["measures"]["dev_f1"]["ours"] == max(scores)
    assert best["measures"]["test_f1"]["published"] == 90.35
    other = content["rows"][5]["measures"]["test_f1"]["ours"]
    mean = (best["measures"]["test_f1"]["ours"] + other) / 2
    assert f"Mean of 2 treebanks, better on development data, test F1: {mean:.2f}." in content["notes"]
    assert best["results"][0]["model"] in {row["results"][0]["model"] for row in (chars, words)}


@pytest.fixture
def languages(treebank: Path, tmp_path: Path) -> Path:
    """A folder with a treebank of Hebrew and a named one of German."""
    folder = tmp_path / "languages"
    (folder / "de").mkdir(parents=True)
    (folder / "he").symlink_to(treebank)
    (folder / "de" / "toy").symlink_to(treebank)
    (folder / "notes").mkdir()
    return folder


def content_of(out: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((out / f"{name}.json").read_text("utf-8"))
    return content


def test_all_treebanks_of_a_folder_are_one_command(languages: Path, tmp_path: Path) -> None:
    assert reproduce(tmp_path, "table7", "--treebanks", str(languages)) == 0
    content = content_of(tmp_path, "table7")
    assert [row["treebank"] for row in content["rows"]] == ["de/toy"] * 3 + ["he"] * 3
    assert content["rows"][0]["sentences"] == [32, 6, 6]
    assert any("has no published number" in note for note in content["notes"])
    assert "| de/toy | 32 / 6 / 6 | CharLSTM only |" in (tmp_path / "table7.md").read_text("utf-8")


def test_parts_that_were_run_apart_are_one_table_afterwards(
    languages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("he", "de/toy"):
        assert reproduce(tmp_path, "table7", "--treebanks", str(languages), "--only", name) == 0
    parts = [content_of(tmp_path, name)["rows"] for name in ("table7.de-toy", "table7.he")]
    assert not (tmp_path / "table7.json").exists()
    monkeypatch.setattr(Trainer, "step", lambda *_: pytest.fail("trained again"))
    assert reproduce(tmp_path, "table7", "--treebanks", str(languages)) == 0
    assert content_of(tmp_path, "table7")["rows"] == [*parts[0], *parts[1]]


def test_a_part_of_many_treebanks_has_a_name_that_every_disk_takes(treebank: Path, tmp_path: Path) -> None:
    names = [f"de/{letter * 60}" for letter in "abcdefgh"]
    given = [word for name in names for word in ("--treebank", f"{name}={treebank}")]
    for some in (names, names[1:]):
        assert reproduce(tmp_path, "table7", *given, "--only", ",".join(some), "--collect") == 0
    assert len(list(tmp_path.glob("table7.*.md"))) == 2


def test_what_is_done_can_be_collected_without_training(
    languages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reproduce(tmp_path, "table7", "--treebanks", str(languages), "--only", "he") == 0
    monkeypatch.setattr(Trainer, "step", lambda *_: pytest.fail("trained"))
    assert reproduce(tmp_path, "table7", "--treebanks", str(languages), "--collect") == 0
    content = content_of(tmp_path, "table7")
    assert [row["problem"] for row in content["rows"]] == ["not done yet"] * 3 + [None] * 3


def test_tags_are_not_predicted_where_nothing_is_trained(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trainer, "step", lambda *_: pytest.fail("trained"))
    assert reproduce(tmp_path, "table4", "--treebank", str(treebank), "--tags", "jackknife", "--collect") == 0
    problems = {name: row["problem"] for name, row in rows(tmp_path, "table4").items()}
    assert problems.pop("words + tags").endswith(f"there are no tags in {tmp_path / 'tags'}")
    assert set(problems.values()) == {"not done yet"}


def test_a_table_says_of_which_treebanks_it_is_and_whether_it_was_collected(languages: Path, tmp_path: Path) -> None:
    assert reproduce(tmp_path, "table7", "--treebanks", str(languages), "--only", "he", "--collect") == 0
    (command,) = (note for note in content_of(tmp_path, "table7.he")["notes"] if note.startswith("Collected by"))
    assert "--only he " in command
    assert "--collect" in command
    assert "--out " in command


def test_a_treebank_that_is_not_there_is_named(
    languages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce(tmp_path, "table7", "--treebanks", str(languages), "--only", "he,xx") == 2
    assert "no treebank is called xx\nhint: one of de/toy, he" in capsys.readouterr().err
    assert reproduce(tmp_path, "table7", "--treebanks", str(languages / "notes")) == 2
    assert "no treebank found\n" in capsys.readouterr().err


def test_the_learning_rate_goes_by_language(treebank: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, "table7", "--treebank", f"pl={treebank}")
    configs = [path.read_text("utf-8") for path in (tmp_path / "models").glob("*/config.toml")]
    assert configs
    assert all("learning_rate = 0.0015" in config for config in configs)


def test_speed_is_measured_in_three_figures(treebank: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, "speed", "--treebank", str(treebank))
    measures = rows(tmp_path, "speed")["CharLSTM"]["measures"]
    assert measures["train_seconds"]["published"] == 18 * 3600
    assert measures["dev_seconds"]["ours"] > 0
    assert 0 < measures["decoding_percent"]["ours"] < 100


def test_jackknifed_tags_train_another_model_than_gold_ones(treebank: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, "table1", "--treebank", str(treebank))
    reproduce(tmp_path, "table1", "--treebank", str(treebank), "--tags", "jackknife")
    assert len(list((tmp_path / "models").iterdir())) == 2
    assert "jackknifed for training data" in (tmp_path / "table1.md").read_text("utf-8")


def test_a_bad_setting_is_found_before_anything_is_trained(treebank: Path, tmp_path: Path) -> None:
    for setting in ("no.such=1", "encoder.layers=4"):  # Table 1 names layers 5 to 8
        assert reproduce(tmp_path, "table1", "--treebank", str(treebank), "--set", setting) == 2
    assert not (tmp_path / "models").exists()


def test_a_folder_without_its_parts_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(tmp_path, "table6", "--treebank", str(tmp_path)) == 2
    assert "the file train.txt or train.txt.gz is missing" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_one_error_and_no_table(treebank: Path, tmp_path: Path) -> None:
    assert reproduce(tmp_path / "out", "table6", "--treebank", str(treebank), "--device", "cuda:99") == 2
    assert not (tmp_path / "out").exists()


def test_a_row_that_fails_is_reported_and_the_others_go_on(treebank: Path, tmp_path: Path) -> None:
    no_number_survives = ("--set", "train.learning_rate=1e30", "train.max_epochs=4", "train.warmup_batches=0")
    assert reproduce(tmp_path, "table6", "--treebank", str(treebank), *no_number_survives) == 1
    charlstm, *others = rows(tmp_path, "table6").values()
    assert "failed with seed 1: the loss is" in charlstm["problem"]
    assert all("skipped" in row["problem"] for row in others)


def test_an_encoder_that_is_given_concerns_only_rows_that_need_one(treebank: Path, tmp_path: Path) -> None:
    options = Options(out=tmp_path, settings=("pretrained.model=some-encoder", "vectors.path=some-vectors"))
    runner = Runner(load_table("table6"), [("en", treebank)], options)
    configs = [runner.configs.config(row, "en", seed=1) for row in runner.table.rows]
    assert [config.pretrained.model for config in configs] == ["", "some-encoder", ""]
    assert [config.vectors.path for config in configs] == ["", "", "some-vectors"]


def test_vectors_of_another_program_stand_for_elmos(treebank: Path, tmp_path: Path) -> None:
    words = [
        tree.words() for part in ("train.txt", "dev.txt", "test.txt.gz") for tree in Treebank.load(treebank / part)
    ]
    save_file({" ".join(each): torch.randn(len(each), 3) for each in words}, tmp_path / "elmo.safetensors")
    given = ("--set", f"vectors.path={tmp_path / 'elmo.safetensors'}", "vectors.size=3")
    assert reproduce(tmp_path, "table6", "--treebank", str(treebank), *given) == 0
    row = rows(tmp_path, "table6")["ELMo, as vectors"]
    assert row["measures"]["test_f1"]["published"] == 95.13
    assert 0 <= row["measures"]["test_f1"]["ours"] <= 100
