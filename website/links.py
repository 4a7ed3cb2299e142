"""Makes links that work on GitHub work on the site, too.

On GitHub a page of docs/ may link to any file of the repository. The site has only docs/ and a few other pages, so
links to other files go to the repository on the web.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
BRANCH: Final = "main"
OTHER_PAGES: Final = {  # pages outside docs/ that the site has, and their addresses in it
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
}
_CODE: Final = re.compile(r"^(```|~~~).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
_TARGET: Final = re.compile(r"(?<=\]\()([^)\s]+)|(?<=^)(\[[^\]]+\]:\s+)(\S+)", re.MULTILINE)
_ELSEWHERE: Final = re.compile(r"[a-z]+:|#|//")


def rewrite_links(markdown: str, source: str, address: str, repository: str) -> str:
    """A page with its links as the site needs them.

    ``source`` is the page's file in the repository, ``address`` its place in the site; both with slashes.
    """
    parts, end = [], 0
    for code in _CODE.finditer(markdown):
        parts += [_rewrite(markdown[end : code.start()], source, address, repository), code[0]]
        end = code.end()
    return "".join([*parts, _rewrite(markdown[end:], source, address, repository)])


def _rewrite(text: str, source: str, address: str, repository: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        opening, target = (match[2], match[3]) if match[1] is None else ("", match[1])
        return opening + site_link(target, source, address, repository)

    return _TARGET.sub(replaced, text)


def site_link(target: str, source: str, address: str, repository: str) -> str:
    """Where a link of a page leads on the site. A link to a missing file stays as it is: MkDocs warns about it."""
    path, hash_sign, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if _ELSEWHERE.match(target) or not (ROOT / path).exists():
        return target
    if (ROOT / path / "README.md").is_file() and f"{path}/".startswith("docs/"):
        path += "/README.md"
    on_site = OTHER_PAGES.get(path) or (path.removeprefix("docs/") if _is_in_docs(path) else None)
    if on_site is None:
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{repository}/{kind}/{BRANCH}/{path}{hash_sign}{anchor}"
    return posixpath.relpath(on_site, posixpath.dirname(address) or ".") + hash_sign + anchor


def _is_in_docs(path: str) -> bool:
    return path.startswith("docs/") and (ROOT / path).is_file()


def plain_bars(markdown: str) -> str:
    """Writes ``\\|`` within the code of a table as ``|``: GitHub needs the backslash, Python-Markdown would show it."""
    row = re.compile(r"^\|.*\|$", re.MULTILINE)
    code = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
    return row.sub(lambda line: code.sub(lambda part: part[0].replace("\\|", "|"), line[0]), markdown)


def github_anchor(heading: str, separator: str) -> str:
    """The name of a heading in links, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)
