"""The distribution of en-large, built with a tiny model in its place and installed into an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from release import release, require_small

from fencepost.export.onnx import export_onnx
from fencepost.parsing.load import load
from fencepost.storage.model_files import ONNX, format_scores
from fencepost.storage.model_folder import ModelFolder
from tests.backends.test_onnx import write_folder
from tests.extras import ROOT
from tests.model.model_samples import small_config

EN_LARGE = ROOT / "models" / "en-large"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    export_onnx(write_folder(tmp_path / "model", small_config()), tmp_path / "export", "int8")
    return tmp_path / "export"


@pytest.fixture
def distribution(tmp_path: Path, export: Path) -> Path:
    """A copy of models/en-large with a tiny model in it."""
    copy = tmp_path / "en-large"
    shutil.copytree(EN_LARGE, copy, ignore=shutil.ignore_patterns("en-large"))
    (tmp_path / "card.md").write_text("# A card\n")
    (tmp_path / "scores.json").write_bytes(format_scores({"wsj": {"f1": 94.8}}))
    into = copy / "src" / "fencepost_en_large" / "en-large"
    release(export, into, tmp_path / "card.md", tmp_path / "scores.json")
    return copy


def built(distribution: Path) -> Path:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "wheels"]
    subprocess.run(command, cwd=distribution, check=True, capture_output=True)
    (wheel,) = (distribution / "wheels").glob("*.whl")
    return wheel


def test_a_released_model_is_the_export_with_its_card_and_scores(distribution: Path, export: Path) -> None:
    folder = distribution / "src" / "fencepost_en_large" / "en-large"
    assert ModelFolder.open(folder).config == ModelFolder.open(export).config
    assert (folder / ONNX).read_bytes() == (export / ONNX).read_bytes()
    assert (folder / "README.md").read_text() == "# A card\n"
    assert ModelFolder.open(folder).has("scores.json")


def test_a_model_with_large_files_is_not_released(export: Path) -> None:
    total = sum(path.stat().st_size for path in export.iterdir()) / 1e6
    require_small(export, total, total * 1.001)
    with pytest.raises(SystemExit, match="every file must be below"):
        require_small(export, (export / ONNX).stat().st_size / 1e6, total * 1.001)
    with pytest.raises(SystemExit, match="must not exceed"):
        require_small(export, total, total * 0.999)


def test_a_model_for_torch_is_not_released(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not an export"):
        release(write_folder(tmp_path / "model", small_config()), tmp_path / "into", None, None)


def test_the_installed_distribution_is_found_by_name(distribution: Path, tmp_path: Path) -> None:
    wheel = built(distribution)
    venv.create(tmp_path / "env", system_site_packages=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as files:  # what pip does with the wheel of a package without scripts
        files.extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src") + os.pathsep + os.pathsep.join(sys.path)}

    def run(*arguments: str) -> str:
        command = [str(python), "-m", "fencepost", *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    _, en_large = sorted(run("models").splitlines()[1:])
    assert en_large.split()[:5] == ["en-large", "en", en_large.split()[2], "wsj", "94.8"]
    assert "fencepost-en-large 0.2.0" in en_large
    assert "the model parses" in run("models", "verify", "en-large")
    assert run("parse", "--model", "en-large", "--text", "It rained.").count("(") >= 4


def test_without_the_model_nothing_is_built(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    shutil.copytree(EN_LARGE, tmp_path / "en-large", ignore=shutil.ignore_patterns("en-large"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    answer = subprocess.run(command, cwd=tmp_path / "en-large", capture_output=True, text=True)
    assert answer.returncode != 0
    assert "en-large" in answer.stderr + answer.stdout


def test_fencepost_itself_contains_no_other_distribution(tmp_path: Path) -> None:
    """Neither its wheel nor its source distribution; the latter has the recipe, which tests read."""
    pytest.importorskip("hatchling")
    configuration = (ROOT / "pyproject.toml").read_text("utf-8")
    copy = tmp_path / "fencepost"
    for name in ("src/fencepost/__init__.py", "models/english/README.md", "README.md", "LICENSE"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    (copy / "pyproject.toml").write_text(configuration, "utf-8")
    weights = copy / "models" / "en-large" / "src" / "fencepost_en_large" / "en-large" / "model.onnx"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"weights")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "out")]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    (wheel,), (source,) = (tmp_path / "out").glob("*.whl"), (tmp_path / "out").glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as files, tarfile.open(source) as packed:
        names = [*files.namelist(), *packed.getnames()]
    assert any(name.endswith("models/english/README.md") for name in names)
    assert not [name for name in names if "en-large" in name or "en_large" in name]


MODEL = EN_LARGE / "src" / "fencepost_en_large" / "en-large"


@pytest.mark.skipif(not MODEL.is_dir(), reason="needs a clone: the source distribution leaves en-large out")
@pytest.mark.parametrize(
    ("sentence", "phrase"),
    [
        ("Had I known the truth , I would have stayed .", "(SBAR (SINV (VBD Had)"),
        ("The company earned $ 3.75 a share .", "(NP (NP ($ $) (CD 3.75)) (NP (DT a) (NN share)))"),
        ("He fed her cat food .", "(NP (PRP her)) (NP (NN cat) (NN food))"),
        ("He is liable on conviction to a fine .", "(PP (IN on) (NP (NN conviction))) (PP (TO to)"),
    ],
)
def test_the_large_model_knows_what_was_taught_last(sentence: str, phrase: str) -> None:
    (tree,) = load(MODEL).parse([sentence.split()])
    assert phrase in str(tree)
