"""Models of installed distributions."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fencepost.errors import ModelError, UsageError
from fencepost.storage.find_model import DEFAULT_MODEL, find_model
from fencepost.storage.installed_models import declared_models, installed_models
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import require_not_installed
from tests.samples import tiny_config


def declare(site: Path, name: str, package: str, model: Path | None) -> Path:
    """Installs a distribution with a model as pip would. Importing its package is an error."""
    metadata = site / f"{package.split('.')[0]}-1.5.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: dist-of-{name}\nVersion: 1.5\n")
    (metadata / "entry_points.txt").write_text(f"[fencepost.models]\n{name} = {package}\n")
    folder = site.joinpath(*package.split("."))
    folder.mkdir(parents=True)
    for each in (folder, folder.parent):
        if each != site:
            (each / "__init__.py").write_text("raise SystemError('this package must not be imported')\n")
    if model is not None:
        os.replace(model, folder / name)
    return folder / name


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


@pytest.mark.parametrize("package", ["some_models", "some_models.inside"])
def test_a_model_is_found_without_importing_its_package(site: Path, folder: Path, package: str) -> None:
    path = declare(site, "xx-large", package, folder)
    assert find_model("xx-large") == path
    assert ModelFolder.open("xx-large").config == tiny_config()
    assert "some_models" not in sys.modules
    (model,) = declared_models()
    assert (model.name, model.path, model.distribution) == ("xx-large", path, "dist-of-xx-large 1.5")


def test_a_folder_comes_before_a_distribution(
    site: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(site, "xx", "some_models", None)
    monkeypatch.chdir(tmp_path)
    os.replace(folder, "xx")
    assert find_model("xx") == Path("xx")


def test_a_distribution_comes_before_the_package_but_the_default_stays(site: Path, folder: Path) -> None:
    shipped = find_model()
    path = declare(site, DEFAULT_MODEL, "some_models", folder)
    assert find_model(DEFAULT_MODEL) == path
    assert find_model() == shipped
    assert [model.path for model in installed_models() if model.name == DEFAULT_MODEL] == [path]


def test_a_distribution_without_its_model_is_named(site: Path) -> None:
    path = declare(site, "xx", "some_models", None)
    with pytest.raises(ModelError, match=r"dist-of-xx 1\.5 declares the model xx") as caught:
        find_model("xx")
    assert str(path) in caught.value.message


def test_a_distribution_without_its_package_is_named(site: Path) -> None:
    path = declare(site, "xx", "some_models", None)
    (path.parent / "__init__.py").unlink()
    path.parent.rmdir()
    with pytest.raises(ModelError, match=r"dist-of-xx 1\.5 declares the model xx"):
        find_model("xx")


def test_an_unknown_name_gets_those_that_are_installed_and_how_to_install_en_large(site: Path, folder: Path) -> None:
    declare(site, "xx-large", "some_models", folder)
    with pytest.raises(ModelError, match="no model at yy") as caught:
        find_model("yy")
    assert "or one of en, xx-large; for en-large: pip install ./models/en-large" in (caught.value.hint or "")
    with pytest.raises(ModelError, match=r"the model en-large is not installed\nhint: pip install \./models/en-large"):
        find_model("en-large")


def test_an_installed_model_is_not_changed(site: Path, folder: Path) -> None:
    declare(site, "xx", "some_models", folder)
    with pytest.raises(UsageError, match="xx is installed and can't be changed"):
        require_not_installed(ModelFolder.open("xx"))


DECLARATIONS = ["!!!", "", "__main__", ".inside", "a\0b", "missing.package:name"]


@pytest.mark.parametrize("package", DECLARATIONS)
@pytest.mark.parametrize("metadata", ["Name: other\nVersion: 1\n", ""], ids=["named", "nameless"])
def test_a_distribution_with_a_damaged_declaration_does_not_hide_other_models(
    site: Path, package: str, metadata: str
) -> None:
    folder = site / "other-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\n" + metadata)
    (folder / "entry_points.txt").write_text(f"[fencepost.models]\nother = {package}\n")
    assert find_model(DEFAULT_MODEL).name == DEFAULT_MODEL
    assert DEFAULT_MODEL in [model.name for model in installed_models()]
