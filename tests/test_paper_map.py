"""docs/paper.md must lead where it says."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import fencepost
from fencepost.config.toml import config_names, load_config

PAGE = (Path(__file__).parents[1] / "docs" / "paper.md").read_text("utf-8")
CODE = re.findall(r"`([^`\n]+)`", PAGE)
SECTIONS = ("encoder", "train", "eval", "scorer")
DOTTED = [text for text in CODE if re.fullmatch(r"[a-z]+\.[a-z_]+\.[A-Za-z_]+", text)]
NAMES = sorted({text for text in DOTTED if text.split(".")[0] not in SECTIONS})
SETTINGS = sorted({text for text in CODE if "=" in text})
FILES = sorted({text for text in CODE if re.fullmatch(r"[a-z_/]+\.py", text)})
FIELDS = sorted({text for text in CODE if re.fullmatch(rf"({'|'.join(SECTIONS)})\.[a-z_]+", text)})
CONFIGURATIONS = sorted({text for text in CODE if re.fullmatch(r"paper(-[a-z]+)?", text)})


@pytest.mark.extras
@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_in_the_code(name: str) -> None:
    module, _, symbol = f"fencepost.{name}".rpartition(".")
    if module == "fencepost.model.cuda.chart_kernels":
        pytest.importorskip("triton")
    assert getattr(importlib.import_module(module), symbol)


@pytest.mark.parametrize("file", FILES)
def test_every_file_is_there(file: str) -> None:
    assert (Path(fencepost.__file__).parent / file).is_file()


@pytest.mark.parametrize("settings", SETTINGS)
def test_every_setting_is_a_valid_configuration(settings: str) -> None:
    load_config("paper", settings.split(" "))


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_exists(field: str) -> None:
    section, name = field.split(".")
    assert hasattr(getattr(load_config("paper"), section), name)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_configuration_is_there(name: str) -> None:
    assert name in config_names()


@pytest.mark.extras
def test_each_class_of_the_model_names_its_section_of_the_paper() -> None:
    for name in NAMES:
        module, _, symbol = f"fencepost.{name}".rpartition(".")
        if module.startswith("fencepost.model.") and symbol[0].isupper():
            documentation = getattr(importlib.import_module(module), symbol).__doc__ or ""
            assert re.match(r"(§\d|Appendix|Table \d)", documentation), name
