"""What MkDocs calls while it builds the site: see mkdocs.yml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # the site describes this checkout, not an installed fencepost

from website import labels, links  # noqa: E402

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REPOSITORY: Final[str] = PROJECT["urls"]["Source"]
ICON: Final = ROOT / "src" / "fencepost" / "serve" / "page" / "icon.svg"
LESS_WANTED: Final = ("results/", "changelog.md")  # the search lists guides and the reference before these
SOURCES: Final = {address: source for source, address in links.OTHER_PAGES.items()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.site_url = PROJECT["urls"]["Documentation"]
    config.extra["version_of_package"] = PROJECT["version"]
    config.extra["social"] = [{"icon": "fontawesome/brands/git-alt", "link": REPOSITORY, "name": "Source"}]
    config.mdx_configs["toc"]["slugify"] = links.github_anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that lie outside docs/, and the icon of the server's page."""
    for source, address in links.OTHER_PAGES.items():
        files.append(File.generated(config, address, content=(ROOT / source).read_text("utf-8")))
    files.append(File.generated(config, "pictures/icon.svg", content=ICON.read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    address = page.file.src_uri
    source = SOURCES.get(address, f"docs/{address}")
    if address.startswith(LESS_WANTED):
        page.meta["search"] = {"boost": 0.3}
    if address == "labels.md":
        markdown = labels.with_drawings(markdown)
    return links.plain_bars(links.rewrite_links(markdown, source, address, REPOSITORY))
