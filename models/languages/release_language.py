"""Makes the distribution of a language's model: a folder that `pip install` takes, with the exported model in it.

    python models/languages/release_language.py --name NAME --model EXPORT --card CARD.md --scores SCORES.json
        --into models/NAME [--largest 12]

The model must not exceed --largest MB (default: 12, and 35 for the joint model).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

from languages import JOINT, LANGUAGES, TERMS, Language, own_scores

from fencepost.storage.model_files import (
    CARD,
    CHECKSUMS,
    CONFIG,
    ONNX,
    SCORES,
    VOCABULARIES,
    format_scores,
    listed_files,
)
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.text.conventions import read_conventions

TEXTS: Final = Path(__file__).parent / "licenses"  # of licences that must come with the model
WRITTEN: Final = (CONFIG, VOCABULARIES, CARD, CHECKSUMS)  # by ``write_model`` itself
LARGEST: Final = {JOINT: 35.0}
PROJECT: Final = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "fencepost-{name}"
version = "0.1.0"
description = "{title}: a model of the constituency parser fencepost"
readme = "README.md"
license = "{license}"
license-files = ["LICENSE*"]
requires-python = ">=3.10"
authors = [{{ name = "The fencepost authors" }}]
dependencies = ["fencepost"]

[project.entry-points."fencepost.models"]
{name} = "{package}"

[tool.hatch.build.targets.wheel]
packages = ["src/{package}"]
exclude = ["/src/{package}/{name}"]

# The model is included by force, so that the build fails without it.
[tool.hatch.build.targets.wheel.force-include]
"src/{package}/{name}" = "{package}/{name}"
"""
NOTE: Final = "The folder ``{name}`` beside this file is a model of fencepost, which finds it without importing this."
README: Final = """\
# {name}: {title}, a model of fencepost

```
pip install {itself:<19} # fencepost itself, in a clone
pip install ./models/{name}
fencepost parse --model {example} --text "{text}"
```

The model is the folder `src/{package}/{name}`; its card, with scores, words and licences, is the `README.md` there.
`models/languages` has the recipe.
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--name", required=True, choices=[*LANGUAGES, JOINT])
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--card", type=Path, required=True)
    options.add_argument("--scores", type=Path, required=True)
    options.add_argument("--into", type=Path, required=True)
    options.add_argument("--largest", type=float)
    arguments = options.parse_args()
    largest = arguments.largest or LARGEST.get(arguments.name, 12.0)
    release(arguments.name, arguments.model, arguments.card, arguments.scores, arguments.into, largest)


def release(name: str, model: Path, card: Path, scores: Path, into: Path, largest: float) -> None:
    folder = ModelFolder.open(model)
    if not folder.has(ONNX):
        raise SystemExit(f"{model} is not an export: run `fencepost export {model} EXPORT --precision int8`")
    size = sum((model / each).stat().st_size for each in listed_files(model)) / 1e6
    print(f"{name}: {size:.1f} MB")
    if size > largest:
        raise SystemExit(f"the model has {size:.1f} MB; it must not exceed {largest:g} MB")
    package = f"fencepost_{name.replace('-', '_')}"
    source = into / "src" / package
    source.mkdir(parents=True, exist_ok=True)
    itself = '".[ja]"' if any(read_conventions(each.code).analyser for each in _languages(name)) else "."
    about = {"name": name, "package": package, "title": _title(name), "license": _license(name), "itself": itself}
    shown = _languages(name)[0]
    example = f"{name}:{shown.name}" if name == JOINT else name
    (into / "pyproject.toml").write_text(PROJECT.format(**about), "utf-8")
    (into / "README.md").write_text(README.format(**about, example=example, text=shown.example), "utf-8")
    (into / "LICENSE.md").write_text(_terms(name), "utf-8")
    for text in (TEXTS / f"{each}.txt" for each in _licenses(name)):
        if text.exists():
            (into / f"LICENSE.{text.name}").write_bytes(text.read_bytes())
    (source / "__init__.py").write_text(f'"""{NOTE.format(**about)}"""\n', "utf-8")
    files = {each: (model / each).read_bytes() for each in listed_files(model) if each not in WRITTEN}
    files[SCORES] = format_scores(own_scores(name, json.loads(scores.read_text("utf-8"))))
    write_model(source / name, folder.config, folder.vocabularies, card.read_text("utf-8"), files)


def _title(name: str) -> str:
    return "six treebanks in one model" if name == JOINT else LANGUAGES[name].title


def _languages(name: str) -> list[Language]:
    return list(LANGUAGES.values()) if name == JOINT else [LANGUAGES[name]]


def _licenses(name: str) -> list[str]:
    return list(dict.fromkeys(language.license for language in _languages(name)))


def _license(name: str) -> str:
    """An SPDX expression; whoever passes on the joint model has to keep to all of them."""
    return " AND ".join(_licenses(name))


def _terms(name: str) -> str:
    lines = [f"The model `{name}` is made from these treebanks, and may be used and passed on under their terms:\n"]
    for language in _languages(name):
        lines.append(f"- {language.corpus}: {language.license}, <https://spdx.org/licenses/{language.license}.html>.")
        lines.append(f"  {language.citation} <{language.source}>")
    lines.append("\nWhat the terms ask for, in short:\n")
    lines += [f"- {TERMS[each]}." for each in _licenses(name)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
