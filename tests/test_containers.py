"""The container files: what they copy exists, what they run is pinned, and the server in them is confined.

No image is built here, which would need a Docker daemon and a network.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from fencepost.cli.main import build_parser
from tests.serve.serving import in_thread
from tests.test_requirements import lock

ROOT = Path(__file__).resolve().parents[1]
FILES = ["Dockerfile", "Dockerfile.cuda"]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
KNOWN = {"FROM", "ENV", "COPY", "RUN", "LABEL", "USER", "WORKDIR", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


class Step(NamedTuple):
    instruction: str
    text: str


def stages(name: str) -> list[list[Step]]:
    """The steps of each stage of a Dockerfile, which begins with FROM."""
    text = re.sub(r"^#.*\n", "", (ROOT / name).read_text("utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    found: list[list[Step]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        step = Step(*line.split(maxsplit=1))
        assert step.instruction in KNOWN, line
        if step.instruction == "FROM":
            found.append([])
        found[-1].append(step)
    return found


def texts(steps: list[Step], instruction: str) -> list[str]:
    return [step.text for step in steps if step.instruction == instruction]


def command(steps: list[Step], instruction: str) -> list[str]:
    (text,) = texts(steps, instruction)
    found: list[str] = json.loads(text)
    return found


def ignored(path: str) -> bool:
    """Whether .dockerignore leaves a file or folder at the top out; the last line that fits decides."""
    out = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        if line and not line.startswith("#") and fnmatch(path, line.removeprefix("!")):
            out = not line.startswith("!")
    return out


@pytest.mark.parametrize("name", FILES)
def test_what_is_copied_from_the_checkout_exists_and_is_sent_to_the_daemon(name: str) -> None:
    copied = [path for steps in stages(name) for text in texts(steps, "COPY") for path in text.split()[:-1]]
    paths = [path for path in copied if not path.startswith(("--from", "/opt/"))]
    assert "src" in paths
    for path in paths:
        assert (ROOT / path).exists(), path
        assert not ignored(path.split("/")[0]), path


def test_nothing_else_is_sent_to_the_daemon() -> None:
    assert all(map(ignored, [".git", ".venv", "docs", "tests", "models", "site"]))


@pytest.mark.parametrize("name", FILES)
def test_packages_are_installed_by_hash_except_torch(name: str) -> None:
    installs = [
        text for steps in stages(name) for text in texts(steps, "RUN") if re.search(r"\bpip\b.* install ", text)
    ]
    unlocked = [text for text in installs if "--require-hashes --no-deps -r" not in text and "--no-index" not in text]
    expected = ["pip --python /opt/fencepost/bin/python install -c /build/constraints.txt torch"]
    assert unlocked == (expected if name == "Dockerfile.cuda" else [])
    locks = re.findall(r"-r /build/requirements/(\S+)", " ".join(installs))
    assert len(locks) == 2
    for file in locks:
        assert lock(file)


@pytest.mark.parametrize("name", FILES)
def test_the_server_runs_as_a_user_without_rights_and_its_command_is_understood(name: str) -> None:
    last = stages(name)[-1]
    (user,) = texts(last, "USER")
    assert int(user.split(":")[0]) > 0
    assert command(last, "ENTRYPOINT") == ["fencepost"]
    arguments = build_parser().parse_args(command(last, "CMD"))
    assert (arguments.host, arguments.device) == ("0.0.0.0", "cuda" if name == "Dockerfile.cuda" else "cpu")
    assert texts(last, "EXPOSE") == [str(arguments.port)]


@pytest.mark.parametrize("name", FILES)
def test_the_health_check_passes_while_the_server_answers_and_fails_otherwise(name: str, tmp_path: Path) -> None:
    (check,) = texts(stages(name)[-1], "HEALTHCHECK")
    python, option, program = json.loads(check[check.index("[") :])
    assert (python, option) == ("python", "-c")
    assert f"http://127.0.0.1:{texts(stages(name)[-1], 'EXPOSE')[0]}/" in program
    with in_thread(tmp_path) as client:
        program = program.replace(":8000/", f":{client.address[1]}/")
        assert subprocess.run([sys.executable, option, program], check=False).returncode == 0
    failed = subprocess.run([sys.executable, option, program], check=False, capture_output=True)
    assert failed.returncode == 1


@pytest.mark.parametrize("name", FILES)
def test_both_stages_have_the_same_python(name: str) -> None:
    images = {text.split()[0] for steps in stages(name) for text in texts(steps, "FROM")}
    assert images == {"python:3.13-slim"}


def test_compose_confines_the_server() -> None:
    (service,) = COMPOSE["services"].values()
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "cpus", "pids_limit"} <= service.keys()
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert [mount.split(":")[0] for mount in service["tmpfs"]] == ["/tmp"]
    assert build_parser().parse_args(service["command"]).run


def test_the_page_about_containers_has_the_commands_of_the_files() -> None:
    page = (ROOT / "docs" / "containers.md").read_text("utf-8")
    for name in FILES:
        lines = (ROOT / name).read_text("utf-8").splitlines()
        for line in [line.removeprefix("#").strip() for line in lines if line.startswith("#   docker")]:
            assert line in page
            assert shlex.split(line)
