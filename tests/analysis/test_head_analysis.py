"""Attention read from a model, its averages, and the report made of them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fencepost.analysis.attention import AttentionReader, SentenceAttention
from fencepost.analysis.heads import FAR, average, distance_names
from fencepost.analysis.run import choose
from fencepost.analysis.tokens import START, STOP
from fencepost.backends.torch import TorchBackend
from fencepost.cli.main import main
from fencepost.config.settings import REACH, Config, PlanConfig
from fencepost.errors import UsageError
from fencepost.export.onnx import export_onnx
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.train import train
from fencepost.trees.treebank import Sentence, Treebank
from tests.grammar import toy_trees
from tests.samples import tiny_config

BANK = Treebank(toy_trees(20))


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analysis") / "model"
    train(tiny_config(max_epochs=3), BANK, BANK, folder)
    return folder


def reader_of(path: Path, longest: int | None = None, **plan: object) -> AttentionReader:
    folder = ModelFolder.open(path)
    changed = replace(folder.config.eval, plan=PlanConfig(**plan), longest=longest)  # type: ignore[arg-type]
    folder = replace(folder, config=replace(folder.config, eval=changed))
    return AttentionReader(TorchBackend.load(folder), folder.config, folder.vocabularies)


def test_every_row_of_attention_adds_up_to_one(model: Path) -> None:
    sentence = Sentence.of(BANK[0])
    attention = reader_of(model).read(sentence)
    assert attention.tokens == (START, *sentence.words, STOP)
    assert attention.probabilities.shape == (2, 2, len(sentence) + 2, len(sentence) + 2)
    np.testing.assert_allclose(attention.probabilities.sum(-1), 1, rtol=1e-5)


def test_the_two_terms_make_the_attention(model: Path) -> None:
    attention = reader_of(model).read(Sentence.of(BANK[0]))
    assert attention.content is not None
    assert attention.position is not None
    logits = torch.from_numpy(attention.content + attention.position)
    np.testing.assert_allclose(logits.softmax(-1).numpy(), attention.probabilities, rtol=1e-4, atol=1e-6)


def test_a_term_that_the_plan_switches_off_is_nought(model: Path) -> None:
    attention = reader_of(model, content=(2,)).read(Sentence.of(BANK[0]))
    assert attention.content is not None
    assert not attention.content[0].any()
    assert attention.content[1].any()


def test_nothing_outside_a_window_is_attended_to(model: Path) -> None:
    attention = reader_of(model, window=1).read(Sentence.of(BANK[0]))
    places = np.arange(len(attention.tokens))
    far = np.abs(places - places[:, None]) > 1
    assert not attention.probabilities[:, :, far].any()
    np.testing.assert_array_equal(attention.allowed, ~far)
    assert reader_of(model).read(Sentence.of(BANK[0])).allowed.all()


def test_a_sentence_longer_than_the_longest_is_read_through_the_window_that_it_is_parsed_with(model: Path) -> None:
    attention = reader_of(model, longest=9).read(choose(BANK, None))
    assert len(attention.tokens) > 9
    places = np.arange(len(attention.tokens))
    far = np.abs(places - places[:, None]) > 9 // REACH
    assert attention.probabilities[:, :, ~far].all()
    assert not attention.probabilities[:, :, far].any()


def test_reading_leaves_no_hook_behind(model: Path) -> None:
    reader = reader_of(model)
    reader.read(Sentence.of(BANK[0]))
    assert all(not layer._forward_pre_hooks for layer in reader._layers)


def made_up(probabilities: list[list[float]], content: float = 0.0, position: float = 0.0) -> SentenceAttention:
    """One head, whose terms rise evenly over the keys by these steps."""
    matrix = np.array(probabilities, np.float32)[None, None]
    keys = np.broadcast_to(np.arange(matrix.shape[-1], dtype=np.float32), matrix.shape)
    tokens = ("",) * matrix.shape[-1]
    return SentenceAttention(tokens, np.ones_like(matrix[0, 0], bool), matrix, content * keys, position * keys)


ANY = [0.25, 0.25, 0.25, 0.25]


def test_averages_are_over_words_alone() -> None:
    averages = average([made_up([ANY, [0.5, 0.2, 0.2, 0.1], [0.9, 0.1, 0, 0], ANY])])
    assert averages.words == 2
    assert averages.to_start[0, 0] == pytest.approx(0.7)
    assert averages.to_stop[0, 0] == pytest.approx(0.05)
    by_name = dict(zip(distance_names(), averages.distances[0, 0], strict=True))
    assert by_name["0"] == pytest.approx(0.1)
    assert by_name["1"] == pytest.approx(0.1)
    assert by_name["−1"] == pytest.approx(0.05)
    assert averages.even_start == pytest.approx(0.25)


def test_heads_that_look_at_the_start_token_are_found() -> None:
    averages = average([made_up([ANY, [0.5, 0.2, 0.2, 0.1], [0.9, 0.1, 0, 0], ANY])])
    heads: Sequence[object] = averages.look_at_start()
    assert heads == [(1, 1, pytest.approx(0.7))]
    assert averages.look_at_start(0.8) == []


@pytest.mark.parametrize(("content", "position", "share"), [(1, 0, 1.0), (0, 2, 0.0), (1, 1, 0.5), (1, 2, 0.2)])
def test_the_share_of_content_is_that_of_the_variance(content: float, position: float, share: float) -> None:
    averages = average([made_up([ANY] * 4, content, position)])
    assert averages.content_share is not None
    assert averages.content_share[0, 0] == pytest.approx(share)


def test_what_lies_outside_a_window_has_no_share() -> None:
    """Far keys differ in content alone, near ones in position alone; only near ones may be attended to."""
    plain = made_up([ANY] * 4)
    assert plain.content is not None
    assert plain.position is not None
    content, position = np.zeros_like(plain.content), np.zeros_like(plain.position)
    content[..., 1, 3] = content[..., 2, 0] = 100
    position[..., 1, 1] = position[..., 2, 2] = 1
    near = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]], bool)
    averages = average([replace(plain, content=content, position=position, allowed=near)])
    assert averages.content_share is not None
    assert averages.content_share[0, 0] == 0
    assert averages.even_start == pytest.approx((1 / 3 + 0) / 2)


def test_a_constant_added_to_a_term_changes_no_share() -> None:
    plain = made_up([ANY] * 4, 1, 2)
    assert plain.content is not None
    shifted = replace(plain, content=plain.content + 100)
    one, other = average([plain]).content_share, average([shifted]).content_share
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one, other)


def test_what_is_far_is_added_up_at_the_ends() -> None:
    size = FAR + 7
    matrix = np.zeros((size, size))
    matrix[:, 1] = 1.0  # all look at the first word
    averages = average([made_up(matrix.tolist())])
    by_name = dict(zip(distance_names(), averages.distances[0, 0], strict=True))
    words = size - 2
    assert by_name[f"<−{FAR}"] == pytest.approx((words - FAR - 1) / words)
    assert sum(by_name.values()) == pytest.approx(1)


def test_all_attention_is_accounted_for(model: Path) -> None:
    reader = reader_of(model)
    averages = average(map(reader.read, BANK.sentences()))
    total = averages.to_start + averages.to_stop + averages.distances.sum(-1)
    np.testing.assert_allclose(total, 1, rtol=1e-5)
    assert averages.sentences == len(BANK)


def test_the_sentence_shown_is_the_one_asked_for_or_one_of_good_length() -> None:
    assert choose(BANK, 3) == Sentence.of(BANK[2])
    assert 8 <= len(choose(BANK, None)) <= 16
    with pytest.raises(UsageError, match="there is no sentence 21"):
        choose(BANK, 21)


@pytest.fixture
def gold(tmp_path: Path) -> str:
    BANK.save(tmp_path / "gold.txt")
    return str(tmp_path / "gold.txt")


def test_the_report_is_one_page_with_everything_in_it(model: Path, gold: str, tmp_path: Path) -> None:
    assert main(["analyze", str(model), gold, "--out", str(tmp_path / "out"), "--heads", "1.2,2.1"]) == 0
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    for part in ("By label", "By length of the sentence", "Content and position", "start token", "Layer 2, head 2"):
        assert part in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    figures = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert np.array(figures["heads"]["content_share"]).shape == (2, 2)
    pictures = sorted(path.name for path in (tmp_path / "out").glob("*.svg"))
    assert pictures == [f"head-{head}-{kind}.svg" for head in ("1.2", "2.1") for kind in ("arcs", "heat")]
    for name in pictures:
        assert ElementTree.parse(tmp_path / "out" / name).getroot().tag.endswith("svg")


def test_an_export_is_analysed_like_its_model(model: Path, gold: str, tmp_path: Path) -> None:
    export_onnx(model, tmp_path / "exported")
    reports = []
    for folder in (model, tmp_path / "exported"):
        assert main(["analyze", str(folder), gold, "--out", str(tmp_path / "report")]) == 0
        reports.append(json.loads((tmp_path / "report" / "report.json").read_text("utf-8")))
    trained, exported = reports
    assert exported["score"] == trained["score"]
    np.testing.assert_allclose(exported["heads"]["distances"], trained["heads"]["distances"], atol=1e-5)


def test_all_pictures_come_as_png_if_asked_for(model: Path, gold: str, tmp_path: Path) -> None:
    assert main(["analyze", str(model), gold, "--out", str(tmp_path), "--heads", "2.1", "--png"]) == 0
    pictures = {path.name: path.read_bytes() for path in tmp_path.glob("*.png")}
    parts = {"content", "distances", "start", "errors-label", "errors-length", "errors-sentence"}
    assert set(pictures) == {f"{part}.png" for part in parts} | {"head-2.1-heat.png", "head-2.1-arcs.png"}
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())


def dense(config: Config) -> Config:
    return replace(config, encoder=replace(config.encoder, projection="dense"))


def lstm(config: Config) -> Config:
    return replace(config, encoder=replace(config.encoder, kind="lstm"))


def test_a_model_that_is_not_factored_has_no_shares(gold: str, tmp_path: Path) -> None:
    train(dense(tiny_config(max_epochs=1)), BANK, BANK, tmp_path / "model")
    assert main(["analyze", str(tmp_path / "model"), gold, "--out", str(tmp_path / "out")]) == 0
    assert "does not keep content and position apart" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_an_lstm_has_errors_but_no_attention(gold: str, tmp_path: Path) -> None:
    train(lstm(tiny_config(max_epochs=1)), BANK, BANK, tmp_path / "model")
    assert main(["analyze", str(tmp_path / "model"), gold, "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "By label" in page
    assert "not self-attentive" in page


@pytest.mark.parametrize("heads", ["3.1", "1.3", "0.1", "one"])
def test_a_head_that_is_not_there_is_an_error(model: Path, gold: str, tmp_path: Path, heads: str) -> None:
    assert main(["analyze", str(model), gold, "--out", str(tmp_path / "out"), "--heads", heads]) == 2
