from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.config.settings import Config, PlanConfig
from fencepost.config.toml import config_from_table, config_names, config_to_toml, load_config, parse_config
from fencepost.errors import ConfigError


def test_defaults_are_the_papers_appendix() -> None:
    config = Config()
    encoder = config.encoder
    assert (encoder.layers, encoder.d_model, encoder.heads) == (8, 1024, 8)
    assert (encoder.d_k, encoder.d_v, encoder.d_ff) == (64, 64, 2048)
    assert (config.char_concat.size, config.char_lstm.size) == (32, 64)
    assert (encoder.attention_dropout, encoder.relu_dropout, encoder.residual_dropout) == (0.2, 0.1, 0.2)
    assert (config.words.dropout, config.tags.dropout) == (0.4, 0.2)
    assert (config.char_lstm.dropout, config.char_lstm.input_dropout, config.char_concat.dropout) == (0.2, 0.2, 0.2)
    train = config.train
    assert (train.batch_size, train.warmup_batches, train.learning_rate) == (250, 160, 0.0008)
    assert (train.patience_epochs, train.checks_per_epoch) == (5.0, 4)
    assert encoder.positions == "learned"


def test_attention_is_scaled_as_in_the_authors_program_unless_a_model_was_saved_before_that() -> None:
    assert Config().encoder.attention_scale == "d_model"
    assert load_config("paper").encoder.attention_scale == "d_model"
    saved = config_to_toml(load_config("paper"))
    assert parse_config(saved, "saved").encoder.attention_scale == "d_model"
    old = saved.replace('attention_scale = "d_model"\n', "")
    assert old != saved
    assert parse_config(old, "saved").encoder.attention_scale == "d_k"


def test_training_on_from_an_old_model_keeps_its_scale(tmp_path: Path) -> None:
    old = config_to_toml(load_config("paper")).replace('attention_scale = "d_model"\n', "")
    (tmp_path / "config.toml").write_text(old)
    assert load_config(tmp_path / "config.toml").encoder.attention_scale == "d_k"
    assert load_config(tmp_path / "config.toml", ["encoder.attention_scale=d_model"]) == load_config("paper")
    (tmp_path / "mine.toml").write_text('[encoder]\nkind = "attention"\nlayers = 4\n')
    assert load_config(tmp_path / "mine.toml").encoder.attention_scale == "d_model"


@pytest.mark.parametrize(
    ("name", "rate"), [("paper", 0.0008), ("paper-he", 0.002), ("paper-pl", 0.0015), ("paper-sv", 0.002)]
)
def test_learning_rates_by_language_are_the_papers(name: str, rate: float) -> None:
    assert load_config(name).train.learning_rate == rate


@pytest.mark.parametrize("name", config_names())
def test_every_configuration_inside_the_package_is_valid_and_says_how_to_run_it(name: str) -> None:
    assert load_config(name).lexical
    text = (Path(__file__).parents[2] / "src" / "fencepost" / "config" / "named" / f"{name}.toml").read_text()
    assert f"fencepost train {name} " in text


@pytest.mark.parametrize("name", config_names())
def test_a_configuration_written_and_read_is_the_same(name: str, tmp_path: Path) -> None:
    config = load_config(name)
    (tmp_path / "config.toml").write_text(config_to_toml(config))
    assert load_config(tmp_path / "config.toml") == config


@given(st.text(max_size=20))
def test_any_language_name_survives_writing(name: str) -> None:
    config = Config(language=name)
    with TemporaryDirectory() as folder:
        (Path(folder) / "config.toml").write_text(config_to_toml(config), "utf-8")
        assert load_config(Path(folder) / "config.toml") == config


def test_a_plan_survives_writing(tmp_path: Path) -> None:
    table = {"eval": {"plan": {"window": 5, "relaxed": True, "content": [], "position": [1, 2]}}}
    config = config_from_table(table)
    assert config.eval.plan == PlanConfig(window=5, relaxed=True, content=(), position=(1, 2))
    (tmp_path / "config.toml").write_text(config_to_toml(config))
    assert load_config(tmp_path / "config.toml") == config


def test_overrides_come_last() -> None:
    config = load_config("small", ["train.batch_size=7", "encoder.reads=input", "lexical=['words', 'tags']"])
    assert (config.train.batch_size, config.lexical) == (7, ("words", "tags"))
    assert config.encoder.layers == 2


def test_a_base_is_merged_section_by_section(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "small"\n[train]\nseed = 9\n')
    assert load_config(path).train.seed == 9
    assert load_config(path).train.batch_size == load_config("small").train.batch_size


@pytest.mark.parametrize(
    ("table", "message", "hint"),
    [
        ({"trian": {}}, "unknown key trian", "did you mean train?"),
        ({"train": {"batchsize": 3}}, "unknown key train.batchsize", "did you mean train.batch_size?"),
        ({"train": {"seed": "x"}}, "train.seed must be of type int", None),
        ({"train": {"seed": True}}, "train.seed must be of type int", None),
        ({"train": 3}, "train is a section", None),
        ({"encoder": {"position": "beside"}}, "encoder.position = 'beside' is not valid", "'added', 'concatenated'"),
        ({"lexical": "words"}, "lexical must be a list", None),
        ({"lexical": []}, "lexical is empty", "char_lstm"),
        ({"lexical": ["words", "words"]}, "twice", None),
        ({"train": {"adam_betas": [0.9]}}, "2 values", None),
        ({"encoder": {"d_model": 30}}, "encoder.d_model = 30", None),
        ({"encoder": {"reads": "position"}}, 'needs encoder.projection = "dense"', None),
        ({"lexical": ["char_concat"], "encoder": {"d_model": 64}}, "must fill", "char_concat.size = 2"),
        ({"encoder": {"projection": "dense"}, "eval": {"plan": {"content": []}}}, "factored", "block"),
        ({"eval": {"plan": {"position": [9]}}}, "layers [9]", None),
        ({"train": {"plan": {"window": -1}}}, "must be at least 0", None),
        ({"encoder": {"kind": "lstm"}, "train": {"plan": {"window": 3}}}, "limits attention", "leave out train.plan"),
        ({"encoder": {"layers": 0}, "eval": {"plan": {"window": 5}}}, "encoder.layers is 0", "leave out eval.plan"),
        ({"train": {"clip_norm": 0}}, "train.clip_norm = 0 would turn every gradient", "none"),
    ],
)
def test_a_wrong_configuration_says_what_is_wrong_and_what_to_write(
    table: dict[str, object], message: str, hint: str | None
) -> None:
    with pytest.raises(ConfigError) as caught:
        config_from_table(table)
    assert message in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")


@pytest.mark.parametrize("override", ["train.seed", "=3", "train=3", "lexical.first=3"])
def test_a_wrong_override_is_refused(override: str) -> None:
    with pytest.raises(ConfigError):
        load_config("small", [override])


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("none of them")
    assert "paper, paper-he" in (caught.value.hint or "")


def test_broken_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("[train\n")
    with pytest.raises(ConfigError, match=r"broken\.toml: not valid TOML"):
        load_config(tmp_path / "broken.toml")


@pytest.mark.parametrize(
    "override",
    [
        "train.batch_size=0",
        "train.checks_per_epoch=0",
        "train.max_epochs=0",
        "train.warmup_batches=-1",
        "train.learning_rate=-1",
        "train.learning_rate=nan",
        "train.adam_betas=[0.9, 1.0]",
        "train.average=1.0",
        "train.clip_norm=0",
        "train.clip_norm=-1",
        "words.dropout=1.5",
        "encoder.residual_dropout=-0.1",
        "encoder.heads=0",
        "encoder.layers=-1",
        "encoder.max_length=0",
        "scorer.hidden=0",
        "char_attention.heads=100",
        "eval.plan.window=-1",
        "train.seed=9223372036854775808",
        "train.seed=99999999999999999999999",
    ],
)
def test_a_number_that_makes_no_sense_is_refused_by_name(override: str) -> None:
    with pytest.raises(ConfigError, match=override.partition("=")[0]):
        load_config("paper", [override])


@pytest.mark.parametrize("override", ["train.warmup_batches=0", "encoder.layers=0", "train.seed=0", "words.dropout=0"])
def test_zero_is_allowed_where_it_means_something(override: str) -> None:
    load_config("paper", [override])


def test_a_base_is_found_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "below.toml").write_text('base = "paper"\n[train]\nbatch_size = 7\n')
    (tmp_path / "above.toml").write_text('base = "below.toml"\n')
    assert load_config(tmp_path / "above.toml").train.batch_size == 7


def test_files_that_are_each_others_base_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('base = "two.toml"\n')
    (tmp_path / "two.toml").write_text('base = "one.toml"\n')
    with pytest.raises(ConfigError, match="its own base"):
        load_config(tmp_path / "one.toml")


def test_a_base_that_is_no_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text("base = 3\n")
    with pytest.raises(ConfigError, match="base must be a name or a file"):
        load_config(tmp_path / "one.toml")
