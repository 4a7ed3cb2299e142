"""The spaCy component: trees over spaCy's tokens, blanks left out, and pipelines that can be stored and shared."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fencepost.config.toml import config_from_table
from fencepost.errors import InputError, ModelError, UsageError
from fencepost.parsing.load import load
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from tests.function_samples import random_function_model
from tests.samples import TREES, tiny_config

spacy = pytest.importorskip("spacy")

import srsly  # noqa: E402
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.tokens.underscore import Underscore  # noqa: E402

from fencepost.integrations import spacy as component  # noqa: E402
from fencepost.integrations.spacy import NonConstituentError  # noqa: E402
from fencepost.integrations.spacy_spans import KEY  # noqa: E402

TEXT = "The cat sat on the mat. It works."
Pipeline = Callable[..., Any]


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spacy") / "model"
    train(tiny_config(max_epochs=40), TREES, TREES, folder)
    return folder


@pytest.fixture(scope="module")
def pipeline(model: Path) -> Pipeline:
    def make(**config: Any) -> Any:
        nlp = spacy.blank("en")
        nlp.add_pipe("fencepost", config={"model": str(model), **config})
        return nlp

    return make


@pytest.fixture(scope="module")
def nlp(pipeline: Pipeline) -> Any:
    return pipeline()


@pytest.fixture
def by_hand(nlp: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Any]:
    """A document whose tree is given, whatever the model thinks."""

    def make(text: str, tree: str) -> Any:
        parser = nlp.get_pipe("fencepost").parser
        monkeypatch.setattr(parser, "parse", lambda sentences, **_: [Tree.from_string(tree) for _ in sentences])
        return nlp(text)

    return make


def parses(doc: Any) -> list[str]:
    return [sentence._.parse_string for sentence in doc.sents]


# What benepar's users know

BENEPAR_SCRIPT = """
nlp.add_pipe("benepar", config={"model": "benepar_en3"})
doc = nlp("The time for action is now. It's never too late to do something.")
sentence = list(doc.sents)[0]
answers = [sentence._.parse_string, sentence._.labels, sentence._.parent, list(sentence._.children)[0]]
for span in sentence._.constituents:
    answers.append((span.text, span._.labels, span._.parent))
answers.append((doc[0]._.labels, doc[0]._.parse_string, doc[0]._.parent))
"""


def test_a_script_for_benepar_runs_with_another_name(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(component, "find_model", lambda: model)
    names: dict[str, Any] = {"nlp": spacy.blank("en")}
    with pytest.warns(UserWarning, match="benepar_en3 is a benepar model"):
        exec(BENEPAR_SCRIPT.replace('"benepar"', '"fencepost"'), names)
    parse, labels, parent, child, *_ = names["answers"]
    assert Tree.from_string(parse).words() == ["The", "time", "for", "action", "is", "now", "."]
    assert isinstance(labels, tuple)
    assert parent is None
    assert child.doc is names["doc"]


def test_by_default_it_is_the_model_that_ships_whatever_folder_lies_here(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "en").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    nlp, named = spacy.blank("en"), spacy.blank("en")
    nlp.add_pipe("fencepost")
    named.add_pipe("fencepost", config={"model": "en"})
    assert "pretrained" in nlp.get_pipe("fencepost").parser.config.lexical
    assert named.get_pipe("fencepost").parser.config == tiny_config(max_epochs=40)


def test_the_properties_of_a_small_tree(by_hand: Callable[[str, str], Any]) -> None:
    doc = by_hand("It works well.", "(TOP (S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))) (. .)))")
    (sentence,) = doc.sents
    assert sentence._.labels == ("S",)
    assert sentence._.parse_string == "(S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))) (. .))"
    assert sentence._.parent is None
    assert [span.text for span in sentence._.children] == ["It", "works well", "."]
    walk = [(span.text, span._.labels) for span in sentence._.constituents]
    assert walk == [
        ("It works well.", ("S",)),
        ("It", ("NP",)),
        ("works well", ("VP",)),
        ("works", ()),
        ("well", ("ADVP",)),
        (".", ()),
    ]
    assert doc[1:3]._.parent == sentence
    assert list(doc[0:1]._.children) == []


def test_a_token_answers_as_the_span_of_it_alone(by_hand: Callable[[str, str], Any]) -> None:
    doc = by_hand("It works well.", "(TOP (S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))) (. .)))")
    assert (doc[0]._.labels, doc[0]._.parse_string, doc[0]._.parent) == (("NP",), "(NP (PRP It))", doc[0:4])
    assert (doc[1]._.labels, doc[1]._.parse_string, doc[1]._.parent) == ((), "(VBZ works)", doc[1:3])


def test_a_unary_chain_is_one_span_with_several_labels(by_hand: Callable[[str, str], Any]) -> None:
    doc = by_hand("Run!", "(TOP (S (VP (VB Run))) (. !))")
    assert doc[0]._.labels == ("S", "VP")
    assert doc[0]._.parse_string == "(S (VP (VB Run)))"


def test_a_sentence_of_several_phrases_stands_under_the_root_symbol(by_hand: Callable[[str, str], Any]) -> None:
    doc = by_hand("Run!", "(TOP (S (VP (VB Run))) (. !))")
    assert doc[0:2]._.labels == ()
    assert doc[0:2]._.parse_string == "(TOP (S (VP (VB Run))) (. !))"
    assert doc[0]._.parent == doc[0:2]


def test_a_span_that_is_no_constituent_is_an_error(by_hand: Callable[[str, str], Any]) -> None:
    doc = by_hand("It works well.", "(TOP (S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))) (. .)))")
    for name in ("labels", "parse_string", "parent", "children", "constituents", "probabilities"):
        with pytest.raises(NonConstituentError, match="not a constituent: It works"):
            getattr(doc[0:2]._, name)


def test_a_document_that_was_not_parsed_is_an_error() -> None:
    with pytest.raises(UsageError, match="was not parsed"):
        _ = spacy.blank("en")("It works.")[0]._.labels


# Documents of all kinds


def test_blanks_are_left_out_of_trees_and_places_still_fit(by_hand: Callable[[str, str], Any]) -> None:
    doc = by_hand(" \n It  \n works\t well.\n\n", "(TOP (S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))) (. .)))")
    (sentence,) = doc.sents
    assert sentence.text != sentence.text.strip()
    assert sentence._.labels == ("S",)
    assert sentence._.parse_string == "(S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))) (. .))"
    assert [span.text.split() for span in sentence._.children] == [["It"], ["works", "well"], ["."]]
    assert [token.tag_ for token in doc if not token.is_space] == ["PRP", "VBZ", "RB", "."]
    assert {token.tag_ for token in doc if token.is_space} == {""}


def test_a_sentence_of_blanks_alone_has_nothing(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["It", "works", "\n\n"], sent_starts=[True, False, True])
    nlp.get_pipe("fencepost")(doc)
    blanks = list(doc.sents)[1]
    assert (blanks._.labels, blanks._.parse_string, blanks._.parent) == ((), "", None)
    assert [*blanks._.children, *blanks._.constituents] == []
    assert doc[2]._.labels == ()


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_a_document_without_words_passes(nlp: Any, text: str) -> None:
    assert "".join(parses(nlp(text))) == ""


def test_sentences_are_split_where_nobody_did(nlp: Any) -> None:
    doc = nlp("Mr. Hill sat. It works.\n\nA heading\n\nThe end.")
    assert [sentence.text.strip() for sentence in doc.sents] == ["Mr. Hill sat.", "It works.", "A heading", "The end."]


def test_sentences_that_are_there_are_kept(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["It", "works", ".", "It", "works"], sent_starts=[True, False, False, False, False])
    nlp.get_pipe("fencepost")(doc)
    (parse,) = parses(doc)
    assert len(Tree.from_string(parse).words()) == 5


def test_a_sentence_of_400_words_is_parsed(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["dogs"] * 400, sent_starts=[True, *[False] * 399])
    nlp.get_pipe("fencepost")(doc)
    (parse,) = parses(doc)
    assert Tree.from_string(parse).words() == ["dogs"] * 400
    assert sum(1 for span in doc[:]._.constituents if len(span) == 1) == 400


def test_a_sentence_that_is_far_too_long_is_left_flat(nlp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.text.sentences.MOST_WORDS", 2)
    with pytest.warns(UserWarning, match="a sentence has 3 words; at most 2 can be parsed, and gets a flat tree"):
        doc = nlp("It works. A heading.")
    assert parses(doc) == ["(TOP (UNK It) (UNK works) (UNK .))", "(TOP (UNK A) (UNK heading) (UNK .))"]


def test_words_that_no_tree_can_hold_become_ones_that_can(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["New York", "(", "nul\0"])
    nlp.get_pipe("fencepost")(doc)
    (parse,) = parses(doc)
    assert Tree.from_string(parse).words() == ["New_York", "(", "nul�"]


def test_the_parser_reads_penns_quotes_and_the_tree_shows_the_texts(nlp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = nlp.get_pipe("fencepost").parser
    read: list[Any] = []
    parse = parser.parse

    def parse_and_record(sentences: list[Any], **more: Any) -> Any:
        read.extend(sentences)
        return parse(sentences, **more)

    monkeypatch.setattr(parser, "parse", parse_and_record)
    doc = nlp('"No", it said.')
    assert read[0].words == ("``", "No", "''", ",", "it", "said", ".")
    assert read[0].spaces == (False, False, False, True, True, False, False)
    assert Tree.from_string(parses(doc)[0]).words()[:3] == ['"', "No", '"']


@pytest.mark.filterwarnings("ignore::fencepost.errors.LanguageWarning")  # random characters can look like Chinese
@given(
    st.text(st.sampled_from("aB.!?\"'(- \n\t\0\u00a0\u200b猫é") | st.characters(exclude_categories=["Cs"]), max_size=60)
)
def test_any_text_gives_trees_over_all_words_and_a_way_up_from_each(nlp: Any, text: str) -> None:
    doc = nlp(text)
    for sentence in doc.sents:
        words = [token for token in sentence if token.text.strip()]
        if not words:
            continue
        assert len(Tree.from_string(sentence._.parse_string).leaves()) == len(words)
        walk = list(sentence._.constituents)
        assert [span[0] for span in walk if len(span) == 1] == words
        for span in walk[1:]:
            assert span in list(span._.parent._.children)


def test_tokens_merged_after_the_parse_are_an_error_that_says_so(nlp: Any) -> None:
    doc = nlp(TEXT)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    with pytest.raises(UsageError, match="have changed since it was parsed"):
        _ = doc[0]._.labels


def test_tokens_merged_and_split_to_the_same_number_are_an_error_where_they_changed(nlp: Any) -> None:
    doc = nlp(TEXT)
    last = parses(doc)[1]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.split(doc[5], ["m", "at"], heads=[doc[5], doc[5]])
    assert len(doc) == 10
    first, second = doc.sents
    assert second._.parse_string == last
    for token in first:
        if token.text != ".":
            with pytest.raises(UsageError, match="have changed since it was parsed"):
                _ = token._.labels
    for ask in ("parse_string", "labels", "children", "parent"):
        with pytest.raises(UsageError, match="have changed since it was parsed"):
            getattr(first._, ask)


def test_a_word_that_stayed_has_no_way_up_to_words_that_changed(by_hand: Callable[[str, str], Any]) -> None:
    doc = by_hand("It really works today", "(TOP (S (NP (PRP It)) (VP (RB really) (VBZ works) (NP (NN today)))))")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
        retokenizer.split(doc[3], ["to", "day"], heads=[doc[0], doc[0]])
    assert doc[0]._.labels == ("NP",)
    with pytest.raises(UsageError, match="have changed since it was parsed"):
        _ = doc[0]._.parent


# Settings


def test_tags_are_the_models_unless_its_tagger_is_disabled(pipeline: Pipeline) -> None:
    tagged = pipeline()(TEXT)
    assert all(token.tag_ in {tag for tree in TREES for tag in tree.tags()} for token in tagged)
    plain = pipeline(disable_tagger=True)(TEXT)
    assert {token.tag_ for token in plain} == {""}
    assert "(UNK The)" in parses(plain)[0]


def test_tags_of_the_pipeline_are_kept_and_shown_if_the_tagger_is_disabled(pipeline: Pipeline) -> None:
    nlp = pipeline(disable_tagger=True)
    doc = Doc(nlp.vocab, words=["It", "(", "works"], tags=["P", "$(", "V fin"])
    nlp.get_pipe("fencepost")(doc)
    assert Tree.from_string(parses(doc)[0]).tags() == ["P", "$-LRB-", "V_fin"]


def test_probabilities_stand_beside_labels_if_they_are_asked_for(pipeline: Pipeline) -> None:
    for sentence in pipeline(probabilities=True)(TEXT).sents:
        for span in sentence._.constituents:
            assert len(span._.probabilities) == len(span._.labels)
            assert all(0 < probability <= 1 for probability in span._.probabilities)
    assert pipeline()(TEXT)[:7]._.probabilities == ()


@pytest.fixture(scope="module")
def function_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_function_model(tmp_path_factory.mktemp("functions") / "model")


@pytest.mark.parametrize("probabilities", [False, True])
def test_a_span_has_the_function_of_the_topmost_label_that_has_one(
    pipeline: Pipeline, function_model: Path, probabilities: bool
) -> None:
    parser = load(function_model)
    document = pipeline(model=str(function_model), functions=True, probabilities=probabilities)(TEXT)
    document = DocBin(store_user_data=True, docs=[document])
    (document,) = DocBin(store_user_data=True).from_bytes(document.to_bytes()).get_docs(spacy.blank("en").vocab)
    seen = set()
    for sentence in document.sents:
        (analysis,) = parser.iter_functions([[token.text for token in sentence]])
        for part in reversed(analysis.constituents):
            span = sentence[part.start : part.end]
            chain = [each for each in analysis.constituents if (each.start, each.end) == (part.start, part.end)]
            best = next((each for each in chain if each.function is not None), chain[0])
            assert span._.function == best.function
            assert span._.function_probability == pytest.approx(best.function_probability, abs=1e-5)
            seen.add(span._.function)
    assert len(seen) > 1


def test_without_asking_a_span_has_no_function(nlp: Any) -> None:
    sentence = next(nlp(TEXT).sents)
    assert sentence._.function is None
    assert sentence._.function_probability is None
    assert sentence[0]._.function is None


def test_a_document_stored_before_there_were_functions_has_none(nlp: Any) -> None:
    document = nlp(TEXT)
    del document.user_data[KEY]["functions"]
    assert document[0]._.function is None


def test_functions_of_a_model_without_them_are_an_error(pipeline: Pipeline) -> None:
    with pytest.raises(UsageError, match="doesn't predict functions"):
        pipeline(functions=True)(TEXT)


def test_a_model_that_reads_tags_reads_those_of_the_pipeline(tmp_path: Path) -> None:
    table = {"lexical": ["words", "tags"], "encoder": {"layers": 1, "d_model": 32, "heads": 2, "d_k": 8, "d_v": 8}}
    train(config_from_table({**table, "train": {"max_epochs": 1}}), TREES, TREES, tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("fencepost", config={"model": str(tmp_path / "model")})
    doc = Doc(nlp.vocab, words=["It", "works"], tags=["PRP", "VBZ"])
    nlp.get_pipe("fencepost")(doc)
    assert Tree.from_string(parses(doc)[0]).tags() == ["PRP", "VBZ"]
    with pytest.raises(InputError, match="reads tags, and this document has none"):
        nlp("It works.")


# Many documents, other processes, files

TEXTS = [TEXT, "", "Ada wrote notes.\n\nOld dogs", "It works."] * 3


def test_documents_in_a_stream_are_as_those_one_by_one_and_in_order(nlp: Any) -> None:
    assert [parses(doc) for doc in nlp.pipe(TEXTS, batch_size=5)] == [parses(nlp(text)) for text in TEXTS]


def test_a_document_that_comes_twice_has_its_trees_once(nlp: Any) -> None:
    doc = nlp.make_doc(TEXT)
    twice = list(nlp.get_pipe("fencepost").pipe([doc, doc]))
    assert parses(twice[1]) == parses(nlp(TEXT))
    assert twice[1].user_data[KEY] == nlp(TEXT).user_data[KEY]


def test_a_stream_is_read_no_further_than_a_batch(nlp: Any) -> None:
    taken: list[str] = []

    def documents() -> Iterator[Doc]:
        for text in TEXTS:
            taken.append(text)
            yield nlp.make_doc(text)

    next(nlp.get_pipe("fencepost").pipe(documents(), batch_size=2))
    assert len(taken) == 2


def test_two_processes_give_what_one_gives(nlp: Any) -> None:
    expected = [parses(doc) for doc in nlp.pipe(TEXTS)]
    assert [parses(doc) for doc in nlp.pipe(TEXTS, n_process=2, batch_size=2)] == expected


def test_the_properties_reach_processes_that_are_not_forked() -> None:
    assert pickle.loads(pickle.dumps(Underscore.get_state()))


def test_a_stored_pipeline_brings_its_model(nlp: Any, pipeline: Pipeline, model: Path, tmp_path: Path) -> None:
    moved = tmp_path / "model"
    moved.symlink_to(model)
    pipeline(model=str(moved)).to_disk(tmp_path / "pipeline")
    moved.unlink()
    assert parses(spacy.load(tmp_path / "pipeline")(TEXT)) == parses(nlp(TEXT))


def test_a_pipeline_comes_back_from_bytes_and_goes_on(nlp: Any, pipeline: Pipeline) -> None:
    other = pipeline(model="nowhere").from_bytes(nlp.to_bytes())
    assert parses(other(TEXT)) == parses(nlp(TEXT))
    assert other.get_pipe("fencepost").to_bytes() == nlp.get_pipe("fencepost").to_bytes()


def test_a_stored_model_leaves_nothing_of_one_that_was_there(nlp: Any, tmp_path: Path) -> None:
    old = "model.onnx"  # which would be preferred to the weights of the new one
    (tmp_path / old).write_bytes(b"")
    (tmp_path / "checksums").write_text(f"{'0' * 64}  {old}\n")
    (tmp_path / "notes.txt").write_text("not of a model")
    own = nlp.get_pipe("fencepost")
    own.to_disk(tmp_path)
    assert not (tmp_path / old).exists()
    assert (tmp_path / "notes.txt").exists()
    again = component.FencepostComponent().from_disk(tmp_path)
    assert parses(again(nlp.make_doc(TEXT))) == parses(nlp(TEXT))


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "..\\outside", "", "a\0b"])
def test_bytes_can_write_no_file_outside_of_the_models_folder(name: str) -> None:
    with pytest.raises(ModelError, match="can't be the name of a model file"):
        component.FencepostComponent().from_bytes(srsly.msgpack_dumps({name: b""}))


@pytest.mark.parametrize("files", [5, [], None, {5: b""}, {"a": "text"}, {"a": {"b": 1}}, {b"a": b""}])
def test_bytes_that_are_no_model_are_an_error(files: Any) -> None:
    with pytest.raises(ModelError, match="these bytes aren't a stored model"):
        component.FencepostComponent().from_bytes(srsly.msgpack_dumps(files))


@pytest.mark.parametrize("content", [b"", b"\xff" * 100, b"\x81", b"\xdf\xff\xff\xff\xff"])
def test_bytes_without_meaning_are_an_error(content: bytes) -> None:
    with pytest.raises(ModelError, match="these bytes aren't a stored model"):
        component.FencepostComponent().from_bytes(content)


@pytest.mark.parametrize("from_bytes", [False, True])
def test_a_component_can_be_pickled(nlp: Any, from_bytes: bool) -> None:
    own = nlp.get_pipe("fencepost")
    if from_bytes:
        own = component.FencepostComponent().from_bytes(own.to_bytes())
    pickled = pickle.dumps(own)
    del own
    assert parses(pickle.loads(pickled)(nlp.make_doc(TEXT))) == parses(nlp(TEXT))


def test_stored_documents_keep_their_trees(nlp: Any) -> None:
    docs = [nlp(text) for text in TEXTS]
    stored = DocBin(docs=docs, store_user_data=True).to_bytes()
    back = DocBin().from_bytes(stored).get_docs(spacy.blank("en").vocab)
    assert [parses(doc) for doc in back] == [parses(doc) for doc in docs]


def test_what_a_document_keeps_are_plain_values(nlp: Any) -> None:
    kept = nlp(TEXT).user_data[KEY]
    assert kept["tokens"] == [0, 4, 8, 12, 15, 19, 22, 24, 27, 32, 33]
    assert {type(value) for values in kept.values() for value in values} == {int, list}


def test_a_model_that_is_not_there_is_an_error_when_it_is_needed(pipeline: Pipeline) -> None:
    with pytest.raises(ModelError, match="no model at nowhere"):
        pipeline(model="nowhere")(TEXT)
