"""What the pages for newcomers promise must be so."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest

from fencepost.cli.main import build_parser

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_ci_runs_the_readmes_test_command() -> None:
    command = next(line for line in README.splitlines() if "-m pytest" in line)
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_workflow_runs_the_readmes_test_command() -> None:
    command = next(line for line in README.splitlines() if "-m pytest" in line)
    assert f"      - run: {command}" in (ROOT / ".github" / "workflows" / "ci.yml").read_text().splitlines()


def test_contributors_find_a_line_about_every_room() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rooms = [path.parent.name for path in (ROOT / "src" / "fencepost").glob("*/__init__.py")]
    assert [room for room in rooms if f"| `{room}/` |" not in page] == []


def commands(text: str) -> list[str]:
    joined = text.replace("\\\n", " ")
    return [line.split("#")[0].strip() for line in joined.splitlines() if line.startswith("fencepost ")]


def test_the_readmes_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    program = README.split("```python\n")[1].split("```")[0]
    exec(program, {})
    assert "The  cat  sat  on  the  mat  ." in capsys.readouterr().out


GUIDES = ("start.md", "languages.md", "from-benepar.md", "from-corenlp.md", "from-l2sca.md")


@pytest.mark.parametrize(
    "command", [each for name in GUIDES for each in commands((ROOT / "docs" / name).read_text("utf-8"))]
)
def test_every_command_in_the_guides_for_newcomers_is_understood(command: str) -> None:
    arguments = shlex.split(command)[1:]
    written_to = arguments.index(">") if ">" in arguments else len(arguments)
    assert build_parser().parse_args(arguments[:written_to]).run


@pytest.mark.parametrize("command", commands(README))
def test_every_command_in_the_readme_is_understood(command: str) -> None:
    arguments = command.split()[1:]
    assert build_parser().parse_args(arguments).run


def examples(parser: argparse.ArgumentParser) -> list[str]:
    """The examples in the help of a command and of those below it."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    own = [part.strip() for line in (parser.epilog or "").splitlines() for part in line.split("|")]
    found = [part.split(">")[0] for part in own if part.startswith("fencepost ")]
    return found + [each for action in below for child in action.choices.values() for each in examples(child)]


@pytest.mark.parametrize("example", sorted(set(examples(build_parser()))))
def test_every_example_in_the_help_is_understood(example: str) -> None:
    assert build_parser().parse_args(shlex.split(example, comments=True)[1:]).run
