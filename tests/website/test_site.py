"""The documentation site builds without a warning, its links lead somewhere, and it loads nothing from elsewhere."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Literal
from urllib.parse import unquote, urlsplit

import mkdocs  # noqa: F401
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright
from website.hooks import PROJECT
from website.labels import anchor

import fencepost
from fencepost.trees.label_names import label_names
from tests.serve.browser import CHROMIUM, FLAGS

ROOT = Path(__file__).resolve().parents[2]
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning would have stopped the build."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],  # --quiet would hide warnings
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


class Links(HTMLParser):
    """What a page links to, what it loads by itself, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attributes if value is not None}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        is_address = tag == "link" and found.get("rel") in ("canonical", "prev", "next")
        if LOADED.get(tag, "") in found and not is_address:
            self.loaded.append(found[LOADED[tag]])


@cache
def links(page: Path) -> Links:
    return Links(page.read_text("utf-8"))


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def broken(site: Path, page: Path) -> Iterator[str]:
    """The links of a page to places that the site doesn't have."""
    home = urlsplit(PROJECT["urls"]["Documentation"]).path
    for target in [*links(page).links, *links(page).loaded]:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        path = unquote(parts.path)
        file = site / path.removeprefix(home) if path.startswith("/") else page.parent / path
        file = page if not path else file / "index.html" if file.is_dir() else file
        if not file.is_file() or (parts.fragment and unquote(parts.fragment) not in links(file.resolve()).ids):
            yield target


def test_links_within_the_site_lead_to_pages_and_headings(site: Path) -> None:
    assert len(pages(site)) > 30
    assert {str(page.relative_to(site)): found for page in pages(site) if (found := list(broken(site, page)))} == {}


def test_a_link_to_a_missing_page_or_heading_is_broken(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#here"><a href="b.html#there"><a href="c.html"><img src="d.png">')
    (tmp_path / "b.html").write_text('<h1 id="here">')
    assert list(broken(tmp_path, tmp_path / "a.html")) == ["b.html#there", "c.html", "d.png"]


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loaded = {target for page in pages(site) for target in links(page).loaded}
    assert {target for target in loaded if urlsplit(target).netloc} == set()
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']*", style.read_text("utf-8")) == []


def test_links_to_other_files_lead_to_the_repository(site: Path) -> None:
    assert f"{PROJECT['urls']['Source']}/blob/main/README.md" in links(site / "index.html").links


def test_the_page_about_labels_draws_every_label(site: Path) -> None:
    text = (site / "labels.html").read_text("utf-8")
    for kind, names in label_names().items():
        for label in names:
            assert anchor(kind, label) in links(site / "labels.html").ids
    assert text.count("<svg xmlns=") >= sum(map(len, label_names().values()))


def test_the_reference_has_every_public_name_with_its_example(site: Path) -> None:
    pages_of_reference = sorted((site / "reference").glob("*.html"))
    ids = {name for page in pages_of_reference for name in links(page).ids}
    assert {f"fencepost.{name}" for name in fencepost.__all__ if name != "FencepostError"} <= ids
    assert "fencepost.errors.FencepostError" in ids
    assert "&gt;&gt;&gt;" in (site / "reference" / "parsing.html").read_text("utf-8")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The site on a server of its own."""
    handler = type("Handler", (Quiet,), {"__init__": lambda self, *args: Quiet.__init__(self, *args, directory=site)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "labels.html", "reference/parsing.html", "results/cpu.html"])
def test_a_page_fits_a_phone_and_asks_nothing_of_other_hosts(
    address: str, browser: Browser, name: str, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address + name, wait_until="networkidle")
    assert errors == []
    assert [url for url in requests if not url.startswith((address, "data:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["labels.html", "reference/parsing.html", "search.html"])
def test_texts_and_links_stand_out_from_their_background(
    address: str, browser: Browser, name: str, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    page.goto(address + name, wait_until="networkidle")
    rules = {"runOnly": ["color-contrast", "link-in-text-block"]}
    found = Axe().run(page, options=rules).response["violations"]
    assert [(each["id"], node["html"]) for each in found for node in each["nodes"]] == []
    page.close()


def test_the_search_works_on_a_page_opened_from_a_disk(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.goto((site / "reference" / "search.html").as_uri())
    page.locator("input.md-search__input").press_sequentially("evalb")
    page.locator(".md-search-result__link[href*='scoring.html']").first.wait_for()
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    page.close()


def test_the_search_lists_guides_before_results(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address + "index.html")
    page.locator("input.md-search__input").press_sequentially("kbest")
    found = page.locator(".md-search-result__link")
    found.first.wait_for()
    assert "/results/" not in (found.first.get_attribute("href") or "")
    page.close()


def test_the_search_finds_a_page(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address + "index.html")
    page.locator("input.md-search__input").press_sequentially("evalb")
    page.locator(".md-search-result__link[href*='scoring.html']").first.wait_for()
    page.close()


def test_no_line_of_a_signature_is_cut_off(site: Path) -> None:
    """mkdocstrings wraps signatures only where ruff is installed, so the extra must have it."""
    extra = (ROOT / "pyproject.toml").read_text("utf-8").partition("\ndocs = [")[2].partition("\n]")[0]
    assert '"ruff>=' in extra
    for page in (site / "reference").glob("*.html"):
        for signature in re.findall(r'<div class="doc-signature[^>]*>(.*?)</div>', page.read_text("utf-8"), re.DOTALL):
            text = html.unescape(re.sub("<[^>]*>", "", signature))
            assert max(map(len, text.splitlines())) <= 90, text
