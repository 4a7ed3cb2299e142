"""Measures the page in Chromium: from a keystroke to the tree, and from the address to the first paint.

python benchmarks/serve/page.py
"""

from __future__ import annotations

import os
import statistics
from urllib.parse import quote

from benchmarks.serve.server import serving
from playwright.sync_api import Browser, Page, sync_playwright
from tests.serve.browser import CHROMIUM, FLAGS
from tests.serve.test_page import KEYSTROKE, TWENTY

KEYSTROKES = 40
LOADS = 10
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def open_page(browser: Browser, url: str) -> Page:
    page = browser.new_page()
    page.goto(url)
    page.locator("#drawing .word").last.wait_for()
    return page


def main() -> None:
    with serving() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        paints = []
        for _ in range(LOADS):
            page = open_page(browser, server.url)
            paints.append(page.evaluate(PAINT))
            page.close()
        page = open_page(browser, f"{server.url}/#text={quote(TWENTY[:-1])}")
        texts = (TWENTY, TWENTY[:-1]) * (KEYSTROKES // 2)  # the full stop comes and goes
        times = [page.evaluate(KEYSTROKE, text) for text in texts]
        browser.close()
    deciles = statistics.quantiles(times, n=10)
    print(f"keystroke to tree: median {statistics.median(times):.0f} ms, 90th percentile {deciles[-1]:.0f} ms")
    print(f"first paint: median {statistics.median(paints):.0f} ms, {min(paints):.0f} to {max(paints):.0f} ms")
    print(f"load average: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
