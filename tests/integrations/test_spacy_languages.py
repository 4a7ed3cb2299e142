"""The spaCy component with models of other languages, constituents as spans, and universal parts of speech."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from fencepost.config.settings import CharLSTMConfig
from fencepost.errors import LanguageWarning, UsageError
from fencepost.integrations.universal_tags import universal_tags
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence
from tests.function_samples import random_function_model
from tests.samples import TREES, marked, tiny_config

spacy = pytest.importorskip("spacy")

from spacy import displacy  # noqa: E402
from spacy.tokens import Doc, DocBin  # noqa: E402

from fencepost.integrations import spacy as component  # noqa: E402

GERMAN: Final = "Ich weiß nicht, ob sie heute noch kommt. Wir haben die Katze gestern im Garten gesehen."


def trained(folder: Path, language: str) -> str:
    train(replace(tiny_config(max_epochs=1), language=language), TREES, TREES, folder / language)
    return str(folder / language)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder, known = tmp_path_factory.mktemp("languages"), dict[str, str]()
    return lambda language: known.get(language) or known.setdefault(language, trained(folder, language))


def pipeline(language: str, **config: Any) -> Any:
    nlp = spacy.blank(language)
    nlp.add_pipe("fencepost", config=config)
    return nlp


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("is", "Hún kom 3. maí. Hann fór.", ["Hún kom 3. maí.", "Hann fór."]),
        ("de", "Am 3. Oktober schlief er. Sie ging.", ["Am 3. Oktober schlief er.", "Sie ging."]),
        ("xx", "Am 3. Oktober schlief er. Sie ging.", ["Am 3. Oktober schlief er.", "Sie ging."]),
        ("zh", "我喜欢猫。你呢？", ["我喜欢猫。", "你呢？"]),
        ("he", "הוא הלך. היא באה.", ["הוא הלך.", "היא באה."]),
    ],
)
def test_sentences_are_split_by_the_rules_of_the_models_language(
    models: Callable[[str], str], language: str, text: str, sentences: list[str]
) -> None:
    doc = pipeline(language, model=models("de" if language == "xx" else language))(text)
    assert [sentence.text.strip() for sentence in doc.sents] == sentences
    assert all(sentence._.parse_string for sentence in doc.sents)


def test_the_parser_reads_the_forms_of_the_models_treebank(
    models: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = pipeline("de", model=models("de"))
    seen: list[tuple[str, ...]] = []
    parser = nlp.get_pipe("fencepost").parser
    parse = parser.parse

    def watched(given: list[Sentence], **rest: Any) -> Any:
        seen.extend(each.words for each in given)
        return parse(given, **rest)

    monkeypatch.setattr(parser, "parse", watched)
    doc = nlp("„Ja“, sagte er.")
    assert seen == [('"', "Ja", '"', ",", "sagte", "er", ".")]
    assert [token.text for token in doc][:3] == ["„", "Ja", "“"]


@pytest.mark.parametrize(("language", "model"), [("en", "de"), ("de", "en"), ("fr", "is")])
def test_a_pipeline_of_another_language_is_an_error_that_says_what_to_do(
    models: Callable[[str], str], language: str, model: str
) -> None:
    with pytest.raises(
        UsageError, match=f"pipeline's language is {language}, and the model {model} parses {model}"
    ) as it:
        pipeline(language, model=models(model))("A cat.")
    assert f'spacy.blank("{model}")' in (it.value.hint or "")


@pytest.mark.parametrize(("model", "fits"), [("fr", True), ("ja", False)])
def test_a_pipeline_for_any_language_is_recommended_only_if_it_finds_words(
    models: Callable[[str], str], model: str, fits: bool
) -> None:
    with pytest.raises(UsageError, match="pipeline's language is en") as it:
        pipeline("en", model=models(model))("A cat.")
    assert ('spacy.blank("xx")' in (it.value.hint or "")) == fits


@pytest.mark.parametrize(("language", "model"), [("nb", "no"), ("xx", "de"), ("de", "mul"), ("pt", "pt-BR")])
def test_languages_that_are_near_enough_are_fine(models: Callable[[str], str], language: str, model: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)
        assert next(pipeline(language, model=models(model))("A cat.").sents)._.parse_string


def test_the_chosen_language_of_a_joint_model_counts(tmp_path: Path) -> None:
    config = replace(
        tiny_config(max_epochs=1),
        language="mul",
        lexical=("char_lstm", "treebank"),
        char_lstm=CharLSTMConfig(8, 0.0, 0.0),
    )
    trees = [marked(tree, name) for name in ("fr", "id") for tree in TREES]
    train(config, trees, trees, tmp_path / "joint")
    doc = pipeline("fr", model=f"{tmp_path / 'joint'}:fr")("L'ami dort. Il rit.")
    assert len(list(doc.sents)) == 2
    with pytest.raises(UsageError, match="the pipeline's language is en, and the model joint:fr parses fr"):
        pipeline("en", model=f"{tmp_path / 'joint'}:fr")("A cat.")
    nlp = pipeline("fr", model=f"{tmp_path / 'joint'}:fr")
    stored = nlp.to_bytes()
    nlp.to_disk(tmp_path / "stored")
    again = pipeline("fr", model=f"{tmp_path / 'joint'}:fr").from_bytes(stored)
    for copy in (spacy.load(tmp_path / "stored"), again, pickle.loads(pickle.dumps(again))):
        assert len(list(copy("L'ami dort. Il rit.").sents)) == 2


def test_a_stored_pipeline_keeps_its_language_and_settings(models: Callable[[str], str], tmp_path: Path) -> None:
    pipeline("de", model=models("de"), spans_key="phrases").to_disk(tmp_path / "stored")
    doc = spacy.load(tmp_path / "stored")("Er schlief.")
    assert "phrases" in doc.spans


def test_text_in_another_language_is_warned_of_once(models: Callable[[str], str]) -> None:
    nlp = pipeline("en", model=models("en"))
    with pytest.warns(LanguageWarning, match="the text looks like German; the model en knows English"):
        nlp(GERMAN)
    nlp(GERMAN)
    with pytest.warns(LanguageWarning, match="the text looks like German"):
        list(pipeline("en", model=models("en"), probabilities=True).pipe([GERMAN] * 3))


# Constituents as spans


@pytest.fixture
def by_hand(models: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A document whose tree is given, whatever the model thinks."""

    def make(text: str, tree: str, **config: Any) -> Any:
        nlp = pipeline("en", model=models("en"), **config)
        parser = nlp.get_pipe("fencepost").parser
        monkeypatch.setattr(parser, "parse", lambda sentences, **_: [Tree.from_string(tree) for _ in sentences])
        return nlp(text)

    return make


def test_constituents_become_spans_on_demand(by_hand: Callable[..., Any]) -> None:
    tree = "(TOP (S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))) (. .)))"
    doc = by_hand("It works  well.", tree, spans_key="phrases")
    spans = [(span.label_, span.text) for span in doc.spans["phrases"]]
    assert spans == [("S", "It works  well."), ("NP", "It"), ("VP", "works  well"), ("ADVP", "well")]
    assert not by_hand("It works well.", tree).spans


def test_a_unary_chain_is_several_spans_over_the_same_words(by_hand: Callable[..., Any]) -> None:
    doc = by_hand("Run!", "(TOP (S (VP (VB Run))) (. !))", spans_key="phrases")
    assert [(span.label_, span.text) for span in doc.spans["phrases"]] == [("S", "Run"), ("VP", "Run")]


def test_displacy_draws_the_spans_and_docbin_keeps_them(by_hand: Callable[..., Any]) -> None:
    doc = by_hand("Run!", "(TOP (S (VP (VB Run))) (. !))", spans_key="phrases")
    drawing = displacy.render(doc, style="span", options={"spans_key": "phrases"}, jupyter=False)
    assert ">S<" in "".join(drawing.split())
    assert ">VP<" in "".join(drawing.split())
    (back,) = DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)
    assert [span.label_ for span in back.spans["phrases"]] == ["S", "VP"]


def test_spans_have_functions_where_they_are_asked_for(tmp_path: Path) -> None:
    random_function_model(tmp_path / "functions")
    nlp = pipeline("en", model=str(tmp_path / "functions"), functions=True, spans_key="phrases")
    doc = nlp("The cat sat on the mat. It works. Old dogs can learn new tricks.")
    expected = [
        f"{label}-{span._.function}" if span._.function and label == span._.labels[0] else label
        for sentence in doc.sents
        for span in sentence._.constituents
        for label in span._.labels
        if len(span._.labels) == 1
    ]
    found = [span.label_ for span in doc.spans["phrases"] if len(span._.labels) == 1]
    assert found == expected
    assert any("-" in label for label in found)


# Universal parts of speech


@pytest.mark.parametrize(
    ("tree", "parts"),
    [
        ("(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ red))) (. .))", "PRON AUX ADJ PUNCT"),
        ("(S (NP (DT That)) (VP (VBZ has) (RB n't) (VP (VBN worked))))", "PRON AUX PART VERB"),
        ("(S (NP (NNP Ada)) (VP (VBZ has) (NP (CD two) (NNS cats))))", "PROPN VERB NUM NOUN"),
        (
            "(SBAR (IN if) (S (NP (PRP we)) (VP (MD can) (VP (VB go) (PP (IN by) (NP (NN car)))))))",
            "SCONJ PRON AUX VERB ADP NOUN",
        ),
        ("(S (VP (TO to) (VP (VB go) (PP (TO to) (NP (DT the) (NN sea))))))", "PART VERB ADP DET NOUN"),
        ("(SQ (VBP Do) (NP (NNS dogs)) (VP (VB bark)) (. ?))", "AUX NOUN VERB PUNCT"),
        (
            "(NP (NP (NNP Ada) (POS 's)) (NN cat) (CC and) (PRP$ my) (FW ami) (NEW tag))",
            "PROPN PART NOUN CCONJ PRON X X",
        ),
    ],
)
def test_universal_parts_of_speech(tree: str, parts: str) -> None:
    assert universal_tags(Tree.from_string(tree)) == parts.split()


def test_parts_of_speech_are_set_on_demand(by_hand: Callable[..., Any]) -> None:
    tree = "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))"
    doc = by_hand("It  works.", tree, pos=True)
    assert [(token.tag_, token.pos_) for token in doc if not token.is_space] == [
        ("PRP", "PRON"),
        ("VBZ", "VERB"),
        (".", "PUNCT"),
    ]
    assert {token.pos_ for token in by_hand("It works.", tree)} == {""}


@pytest.mark.parametrize(
    ("language", "tree", "parts"),
    [
        (
            "fr",
            "(S (NP (DET Le) (NC chat)) (VN (CLO l') (V a) (VPP vu)) (PP (P+D au) (NP (NPP Lac))) (PONCT .))",
            "DET NOUN PRON AUX VERB ADP PROPN PUNCT",
        ),
        ("fr-CA", "(S (VN (V dort) (CLS -il)) (PONCT ?))", "VERB PRON PUNCT"),
        ("is", "(S (NP (pfn Hún)) (VP (so_fh kom) (PP (fs í) (NP (no bæ)))) (grm .))", "PRON VERB ADP NOUN PUNCT"),
        ("fo", "(IP (NP (PRO-N Eg)) (HVPI havi) (VBN sæð) (NP (N-A skip$) (D-A $ið)))", "PRON AUX VERB NOUN DET"),
        ("is-historical", "(IP (CONJ og) (VBDI fór) (NEG eigi) (N21-D alla) (ZZZ x))", "CCONJ VERB ADV NOUN X"),
        ("id", "(S (NP (NNO Anak) (ART itu)) (VP (VBT makan) (NP (NNO nasi))) (PUN .))", "NOUN DET VERB NOUN PUNCT"),
        ("ja", "(IP (PP (N 猫) (P が)) (VB 寝) (P て) (VB2 いる) (-LRB- -LRB-))", "NOUN ADP VERB ADP AUX PUNCT"),
    ],
)  # fmt: skip
def test_universal_parts_of_speech_of_other_treebanks(language: str, tree: str, parts: str) -> None:
    assert universal_tags(Tree.from_string(tree), language) == parts.split()


def test_deep_trees_have_parts_of_speech() -> None:
    tree = Tree.from_string("(NP " * 2000 + "(NN cat)" + " (RB too))" * 2000)
    assert universal_tags(tree) == ["NOUN", *["ADV"] * 2000]


def test_parts_of_speech_follow_the_models_language(models: Callable[[str], str]) -> None:
    for language in ("en", "fr"):  # both models have Penn's tags, which a French model doesn't
        doc = pipeline(language, model=models(language), pos=True)("Le chat dort.")
        assert ({token.pos_ for token in doc} == {"X"}) == (language == "fr")


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_text_without_spaces_needs_a_pipeline_of_its_language(models: Callable[[str], str], language: str) -> None:
    with pytest.raises(UsageError, match=f"can't split text into words for the model {language}") as it:
        pipeline("xx", model=models(language))("我喜欢猫。")
    assert it.value.hint == f'use spacy.blank("{language}")'


def test_parts_of_speech_need_tags_that_we_know(models: Callable[[str], str]) -> None:
    with pytest.raises(UsageError, match="the model de has no tags that pos can turn into parts of speech"):
        pipeline("de", model=models("de"), pos=True)("Er schlief.")
    with pytest.raises(UsageError, match="disable_tagger turns them off"):
        pipeline("en", model=models("en"), pos=True, disable_tagger=True)
    nlp = pipeline("de", model=models("de"))
    assert all(token.tag_ and not token.pos_ for token in nlp("Er schlief."))


def test_the_component_without_a_pipeline_takes_any_model(models: Callable[[str], str]) -> None:
    doc = Doc(spacy.blank("en").vocab, words=["Er", "schlief"], sent_starts=[True, False])
    assert next(component.FencepostComponent(model=models("de"))(doc).sents)._.parse_string
