"""The page in a real browser. Needs Chromium; without it these tests are skipped."""

from __future__ import annotations

import json
import re
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.function_samples import random_function_model
from tests.serve.browser import CHROMIUM, FLAGS
from tests.serve.serving import Client, SlowParser, in_thread, shared_parser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")

TWENTY = "The old man who lived by the river had told us that the bridge would be closed until next Monday morning."
TELESCOPE = "I saw the man with the telescope."


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, client: Client) -> Iterator[Open]:
    """Opens the page. Afterwards nothing may have been written to the console or asked of another server."""
    complaints: list[str] = []
    contexts = []

    def open_page(text: str | None = None, server: Client = client, expected: str = "", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)

        def note(complaint: str) -> None:
            if not expected or expected not in complaint:
                complaints.append(complaint)

        page.on("console", lambda message: note(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: note(str(error)))
        page.on("request", lambda asked: check_origin(asked.url, server.url, complaints))
        page.goto(server.url + ("" if text is None else f"/#text={quote(text)}"))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def check_origin(url: str, own: str, complaints: list[str]) -> None:
    if not url.startswith((own, "blob:", "data:")):
        complaints.append(f"a request to {url}")


def nodes(page: Page) -> Any:
    return page.locator("#drawing [role=treeitem]")


def sentences(page: Page) -> Any:
    return page.locator("#sentences [role=option]")


def words(page: Page) -> list[str]:
    found: list[str] = page.locator("#drawing .word").all_text_contents()
    return found


def node(page: Page, label: str) -> Any:
    """The phrases with this label, whatever their functions."""
    phrase = page.locator("text.phrase").filter(has_text=re.compile(f"^{label}(-|$)"))
    return page.locator("#drawing [role=treeitem]").filter(has=phrase)


def test_the_page_opens_with_an_example(open_page: Open) -> None:
    page = open_page()
    expect(page.locator("#drawing .word").first).to_have_text("I")
    assert words(page) == ["I", "saw", "the", "man", "with", "the", "telescope", "."]


def test_the_tree_is_drawn_while_typing(open_page: Open) -> None:
    page = open_page("")
    page.locator("#text").press_sequentially("It works", delay=20)
    expect(page.locator("#drawing .word").last).to_have_text("works")
    page.locator("#text").press_sequentially(" well.", delay=20)
    expect(page.locator("#drawing .word").last).to_have_text(".")
    assert words(page) == ["It", "works", "well", "."]
    page.locator("#text").fill("")
    expect(page.locator("#drawing")).to_have_text("The tree appears here.")


def test_an_old_answer_never_replaces_a_new_one(open_page: Open) -> None:
    page = open_page("")
    delays = iter((0.6, 0.0))

    def delay(route: Any) -> None:
        time.sleep(next(delays, 0.0))
        route.continue_()

    page.route("**/v1/parse", delay)
    page.locator("#text").fill("Old news.")
    page.wait_for_timeout(150)
    page.locator("#text").fill("New news.")
    expect(page.locator("#drawing .word").first).to_have_text("New")
    page.wait_for_timeout(800)
    assert words(page) == ["New", "news", "."]


def test_from_keystroke_to_tree_takes_little_time(open_page: Open) -> None:
    page = open_page(TWENTY[:-1])
    expect(page.locator("#drawing .word").last).to_have_text("morning")
    times = []
    for text in (TWENTY, TWENTY[:-1]) * 5:
        times.append(page.evaluate(KEYSTROKE, text))
    assert sorted(times)[2] < 150, times


KEYSTROKE = """(text) => new Promise((resolve) => {
  const area = document.getElementById("text");
  const before = document.querySelector("#drawing svg");
  const observer = new MutationObserver(() => {
    if (document.querySelector("#drawing svg") !== before) {
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.now() - started));
    }
  });
  observer.observe(document.getElementById("drawing"), {childList: true});
  const started = performance.now();
  area.value = text;
  area.dispatchEvent(new Event("input"));
})"""


def test_the_first_paint_is_quick(open_page: Open) -> None:
    page = open_page()
    expect(nodes(page).first).to_be_visible()
    script = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    paints = [page.evaluate(script)]
    for _ in range(2):
        page.reload()
        expect(nodes(page).first).to_be_visible()
        paints.append(page.evaluate(script))
    assert min(paints) < 1000, paints


def test_a_constituent_that_is_clicked_is_explained(open_page: Open) -> None:
    page = open_page(TELESCOPE)
    node(page, "PP").click()
    details = page.locator("#details")
    expect(details.locator("h2")).to_have_text("PP: prepositional phrase")
    expect(details).to_contain_text("with the telescope")
    expect(details).to_contain_text("words 5 to 7 of 8")
    assert float(details.locator("meter").get_attribute("value") or 0) > 0.5
    page.locator("#drawing [role=treeitem]").filter(has_text="telescope").last.click()
    expect(details.locator("h2")).to_have_text("NN: noun, singular or uncountable")


def test_keys_move_through_the_tree(open_page: Open) -> None:
    page = open_page(TELESCOPE)
    nodes(page).first.focus()
    title = page.locator("#details h2")
    for key, label in (
        ("ArrowDown", "S: "),
        ("ArrowDown", "NP: "),
        ("ArrowRight", "VP: "),
        ("ArrowDown", "VBD: "),
        ("ArrowRight", "NP: "),
        ("ArrowUp", "VP: "),
        ("ArrowLeft", "NP: "),
        ("End", ".: "),
        ("Home", "TOP: "),
    ):
        page.keyboard.press(key)
        expect(title).to_contain_text(label)
        assert page.evaluate("document.activeElement.getAttribute('aria-selected')") == "true"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("TOP, the root of the tree")


def test_the_tree_is_a_tree_for_screen_readers(open_page: Open) -> None:
    page = open_page("It works.")
    expect(page.get_by_role("tree", name="Tree of: It works.")).to_be_visible()
    items = page.get_by_role("treeitem")
    assert [items.nth(number).get_attribute("aria-level") for number in range(4)] == ["1", "2", "3", "4"]
    assert items.nth(3).get_attribute("aria-label") == "It: personal pronoun"
    assert page.locator("#drawing [tabindex='0']").count() == 1


def test_the_k_best_trees_show_what_differs(open_page: Open) -> None:
    page = open_page(TELESCOPE)
    expect(page.locator("#rank-label")).to_have_text("Tree 1 of 10: the best")
    assert page.locator(".node.differs").count() == 0
    for rank in range(2, 11):  # a tree may also differ only by what it lacks
        page.locator("#rank").fill(str(rank))
        expect(page.locator("#rank-label")).to_contain_text(f"Tree {rank} of 10: ")
        expect(page.locator("#rank-label")).to_contain_text("as likely as the best")
        if "new" in (page.locator("#difference").text_content() or ""):
            break
    label = page.locator(".node.differs .phrase").first.text_content()
    expect(page.locator("#difference")).to_contain_text(f"new {label} “")
    page.locator(".node.differs").first.click()
    expect(page.locator("#details")).to_contain_text("Probability")


def test_what_moved_or_changed_its_function_in_another_tree_is_shown(open_page: Open) -> None:
    page = open_page("She ate the pasta with a fork.")
    expect(page.locator("#rank-label")).to_have_text("Tree 1 of 10: the best")
    assert page.locator(".branch.differs").count() == 0
    page.locator("#rank").fill("2")  # the fork belongs to the pasta
    difference = page.locator("#difference")
    expect(difference).to_contain_text("new NP “the pasta with a fork”")
    assert page.locator(".branch.differs").count() == 3  # of the new NP, and of what is below it now
    assert page.locator(".node.differs .phrase").all_text_contents() == ["NP", "PP"]
    expect(difference).to_contain_text(re.compile("PP instead of PP-[A-Z]+ “with a fork”"))
    page.get_by_label("functions", exact=True).uncheck()
    expect(difference).not_to_contain_text("instead of")


def test_the_space_between_a_tag_and_its_word_can_be_clicked(open_page: Open) -> None:
    page = open_page("It works.")
    tag = page.locator("#drawing .tag").first.bounding_box()
    word = page.locator("#drawing .word").first.bounding_box()
    assert tag
    assert word
    page.mouse.click(word["x"] + word["width"] / 2, (tag["y"] + tag["height"] + word["y"]) / 2)
    expect(page.locator("#details h2")).to_have_text("PRP: personal pronoun")


def test_sentences_of_a_text_are_listed(open_page: Open) -> None:
    page = open_page("Time flies like an arrow. Fruit flies like a banana.\n\nDid it?")
    options = sentences(page)
    expect(options).to_have_count(3)
    options.nth(1).click()
    assert words(page)[0] == "Fruit"
    page.keyboard.press("Tab")
    options.nth(1).focus()
    page.keyboard.press("ArrowDown")
    assert words(page) == ["Did", "it", "?"]
    assert options.nth(2).get_attribute("aria-selected") == "true"
    expect(page.locator("#status")).to_contain_text("3 sentences, 15 words")


def test_the_page_says_that_the_text_is_in_another_language(open_page: Open) -> None:
    page = open_page("Ich weiß nicht, ob sie heute noch kommt.")
    status = page.locator("#status")
    expect(status).to_contain_text("The text looks like German; the model en knows English. 1 sentence")
    assert "English.\n1 sentence" in status.inner_text()  # lines of their own


def test_the_sentence_at_the_caret_is_shown_while_typing(open_page: Open) -> None:
    page = open_page("One dog barks. Two dogs bark.")
    expect(sentences(page)).to_have_count(2)
    page.locator("#text").press("Control+End")
    page.locator("#text").press_sequentially(" Three cats sleep")
    expect(page.locator("#drawing .word").first).to_have_text("Three")
    page.locator("#text").press("Control+Home")
    page.locator("#text").press_sequentially("Yes, ")
    expect(page.locator("#drawing .word").first).to_have_text("Yes")


def test_the_chosen_sentence_is_in_view_in_the_list(open_page: Open) -> None:
    page = open_page("")
    page.locator("#text").fill("The cat sat on the mat near the old house. " * 60)  # the caret is at the end
    expect(sentences(page)).to_have_count(60)
    expect(sentences(page).nth(59)).to_have_attribute("aria-selected", "true")
    expect(sentences(page).nth(59)).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0
    page.locator("#text").press("Control+Home")
    page.locator("#text").press_sequentially("Yes, ")
    expect(sentences(page).nth(0)).to_be_in_viewport()


def test_a_long_text_comes_sentence_by_sentence_and_is_analyzed_where_one_looks(open_page: Open) -> None:
    page = open_page("")
    page.locator("#text").fill("The cat sat on the mat, and then it slept for a while. " * 100)
    expect(sentences(page)).to_have_count(100)
    expect(page.locator("#rank-part")).to_be_visible()
    sentences(page).nth(70).click()
    expect(page.locator("#rank-part")).to_be_visible()
    node(page, "PP").first.click()
    expect(page.locator("#details")).to_contain_text("Probability")


def test_a_sentence_with_line_ends_in_a_long_text_is_analyzed(open_page: Open) -> None:
    page = open_page("")
    page.locator("#text").fill("The cat sat on the mat,\nand then it slept for a while. " * 50)
    expect(sentences(page)).to_have_count(50)
    expect(page.locator("#rank-part")).to_be_visible()
    node(page, "PP").first.click()
    expect(page.locator("#details")).to_contain_text("Probability")


def test_a_sentence_of_300_words_can_be_drawn_and_scrolled(open_page: Open) -> None:
    page = open_page("")
    page.locator("#text").fill(" ".join(["and the cat that sat on the mat slept"] * 33))
    expect(page.locator("#drawing .word")).to_have_count(297)
    box = page.locator("#drawing")
    assert box.evaluate("box => box.scrollWidth > 3 * box.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator("#drawing .phrase").first).to_be_in_viewport()  # the root, far from the first words
    page.locator("#fit").check()
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")


@pytest.mark.parametrize("noted", [False, True])
def test_rows_of_a_deep_tree_are_low_but_do_not_touch(open_page: Open, noted: bool) -> None:
    page = open_page("I know that she said" + " that he thought that she knew" * 8 + " that it was late.")
    expect(nodes(page).first).to_be_attached()
    page.locator("#show-probabilities").set_checked(noted)
    expect(page.locator("#drawing .note").first).to_be_attached(attached=noted)
    heights = page.locator("#drawing text.phrase").evaluate_all("all => all.map(t => Number(t.getAttribute('y')))")
    rows = sorted(set(heights))
    assert len(rows) > 30
    distances = {below - above for above, below in pairwise(rows)}
    assert distances == {42 if noted else 30}
    boxes = page.locator("#drawing text.phrase, #drawing text.note").evaluate_all(
        "all => all.map(t => t.getBBox()).map(b => [b.x, b.y, b.x + b.width, b.y + b.height - 3])"  # 3: below the line
    )
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_a_tall_tree_ends_where_the_window_ends(open_page: Open) -> None:
    page = open_page("I know that she said" + " that he thought that she knew" * 8 + " that it was late.")
    expect(nodes(page).first).to_be_attached()
    drawing = page.locator("#drawing")
    assert drawing.evaluate("box => box.scrollHeight > box.clientHeight")
    assert drawing.evaluate("box => box.getBoundingClientRect().bottom <= innerHeight")


def test_the_branches_of_a_phrase_are_one_line(open_page: Open) -> None:
    """Several would look darker where they overlap."""
    page = open_page(TELESCOPE)
    expect(nodes(page).first).to_be_visible()
    assert page.locator("#drawing .branch").count() == page.locator("#drawing text.phrase").count()


def test_fit_to_width_does_not_enlarge_a_small_tree(open_page: Open) -> None:
    page = open_page("It works.")
    before = page.locator("#drawing svg").bounding_box()
    page.locator("#fit").check()
    assert page.locator("#drawing svg").bounding_box() == before


def test_an_error_is_shown_and_goes_away(open_page: Open, tmp_path: Path) -> None:
    with in_thread(tmp_path, max_body=2_000) as server:
        page = open_page("It works.", server=server, expected="413")
        expect(nodes(page).first).to_be_visible()
        page.locator("#text").fill("word " * 500)
        expect(page.locator("#problem")).to_contain_text("The body is larger than 2,000 bytes.")
        page.locator("#text").fill("It works again.")
        expect(page.locator("#problem")).to_be_hidden()
        expect(page.locator("#drawing .word").nth(2)).to_have_text("again")


def test_a_server_that_is_gone_is_an_error(open_page: Open, tmp_path: Path) -> None:
    with in_thread(tmp_path) as server:
        page = open_page("It works.", server=server, expected="ERR_")
        expect(nodes(page).first).to_be_visible()
    page.locator("#text").fill("It works no more.")
    expect(page.locator("#problem")).to_have_text("The server doesn't answer.Is it still running?")


def test_a_token_is_asked_for(open_page: Open, tmp_path: Path) -> None:
    with in_thread(tmp_path, token="s3cret") as server:
        page = open_page("It works.", server=server, expected="401")
        page.get_by_label("This server needs a token").fill("s3cret")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#drawing .word").nth(1)).to_have_text("works")
        page.locator("#theme").click()  # once, not once for each start
        expect(page.locator("#theme")).to_have_text("Theme: light")


def test_markup_in_a_text_stays_text(open_page: Open) -> None:
    text = '<script>alert(1)</script> <img src=x onerror="alert(2)"> works & "so" on.'
    page = open_page(text)
    expect(nodes(page).first).to_be_visible()
    assert page.locator("#drawing script, #drawing img, #details img").count() == 0
    nodes(page).nth(1).click()
    page.get_by_role("tab", name="JSON").click()
    assert "onerror" in (page.locator("#json").text_content() or "")
    picture = download(page, "#save-svg").read_text("utf-8")
    names = {element.tag for element in ElementTree.fromstring(picture).iter()}
    assert names == {f"{{http://www.w3.org/2000/svg}}{name}" for name in ("svg", "title", "rect", "g", "path", "text")}


def download(page: Page, button: str) -> Path:
    with page.expect_download() as found:
        page.locator(button).click()
    return Path(found.value.path())


def test_pictures_can_be_saved(open_page: Open) -> None:
    page = open_page(TELESCOPE, color_scheme="dark")
    expect(nodes(page).first).to_be_visible()
    picture = download(page, "#save-svg").read_text("utf-8")
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:2] == ["TOP", "S"]
    assert "style" not in picture
    content = download(page, "#save-png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">I", content[16:20])[0] == 2 * int(root.attrib["width"])


def test_brackets_json_and_links_can_be_copied(open_page: Open) -> None:
    page = open_page("It works (well).", permissions=["clipboard-read", "clipboard-write"])
    expect(nodes(page).first).to_be_visible()

    def clipboard() -> str:
        return str(page.evaluate("navigator.clipboard.readText()"))

    page.get_by_role("tab", name="Brackets").click()
    expect(page.locator("#brackets")).to_contain_text("(-LRB- -LRB-)")
    page.locator("#copy").click()
    expect(page.locator("#status")).to_have_text("Brackets copied")
    assert clipboard().startswith("(TOP (S ")
    page.get_by_role("tab", name="Brackets").press("ArrowRight")
    page.locator("#copy").click()
    expect(page.locator("#status")).to_have_text("JSON copied")
    assert json.loads(clipboard())["text"] == "It works (well)."
    page.locator("#link").click()
    expect(page.locator("#status")).to_have_text("Link copied")
    assert clipboard() == page.url


def test_a_link_brings_back_text_sentence_and_tree(open_page: Open, client: Client) -> None:
    page = open_page(f"It works. {TELESCOPE} Done & dusted: 100%? 😀")
    sentences(page).nth(1).click()
    page.locator("#rank").fill("3")
    link = page.url
    assert "#text=" in link
    again = open_page()
    again.goto("about:blank")
    again.goto(link)
    expect(again.locator("#rank-label")).to_contain_text("Tree 3 of 10")
    assert words(again)[:2] == ["I", "saw"]
    assert again.locator("#text").input_value() == f"It works. {TELESCOPE} Done & dusted: 100%? 😀"


def test_a_link_pasted_into_an_open_page_is_followed(open_page: Open) -> None:
    page = open_page("It works.")
    expect(nodes(page).first).to_be_visible()
    page.evaluate("location.hash = 'text=' + encodeURIComponent('So it does.')")
    expect(page.locator("#drawing .word").first).to_have_text("So")
    assert page.locator("#text").input_value() == "So it does."


def test_the_skip_link_keeps_the_text_in_the_address(open_page: Open) -> None:
    page = open_page("It works.")
    expect(nodes(page).first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "tree-panel"
    assert "#text=It" in page.url


def test_a_text_can_be_typed_and_a_pattern_at_once(open_page: Open) -> None:
    page = open_page("")
    page.locator("#text").fill("She lives in Rome.")
    page.locator("#pattern").fill("PP")
    expect(page.locator("#drawing .word")).to_have_count(5)
    expect(page.locator("#matches")).to_have_text("1 match in 1 sentence")


def test_what_is_typed_while_the_page_still_loads_stays(open_page: Open, client: Client) -> None:
    page = open_page("")
    waiting: list[Route] = []
    page.route("**/v1/labels", lambda route: waiting.append(route))
    with page.expect_request("**/v1/labels"):
        page.goto(client.url + "/?again")
    page.locator("#text").fill("She lives in Rome.")
    page.locator("#pattern").fill("PP")
    waiting[0].continue_()
    expect(page.locator("#matches")).to_have_text("1 match in 1 sentence")
    expect(page.locator("#text")).to_have_value("She lives in Rome.")


def test_the_page_says_that_the_text_is_in_another_script(open_page: Open) -> None:
    page = open_page("הילד הקטן קרא ספר.")
    expect(page.locator("#status")).to_contain_text("The text looks like Hebrew; the model en knows English.")
    page.locator("#text").fill("She wrote “שלום” on the wall.")
    expect(page.locator("#status")).to_contain_text("9 words")
    expect(page.locator("#status")).not_to_contain_text("looks like")


def test_examples_can_be_tried(open_page: Open) -> None:
    page = open_page()
    page.locator("#examples").select_option(label="Garden path")
    expect(page.locator("#drawing .word").nth(1)).to_have_text("horse")


@pytest.mark.parametrize(
    ("language", "first", "reading"),
    [
        ("fr", "Le chat", "text"),
        ("is-historical", "Maðurinn", "text"),
        ("zh", "我们", "tokens"),
        ("en", "I saw", "text"),
    ],
)
def test_the_first_example_is_in_the_language_of_the_model(
    open_page: Open, tmp_path: Path, language: str, first: str, reading: str
) -> None:
    parser = SlowParser(shared_parser())
    parser.text_language = language
    with in_thread(tmp_path, {language: parser}) as server:
        page = open_page(server=server)
        expect(page.locator("#text")).to_have_value(re.compile(f"^{first}"))
        expect(page.locator("#reading")).to_have_value(reading)
        expect(nodes(page).first).to_be_visible()


def test_hebrew_is_drawn_from_right_to_left(open_page: Open) -> None:
    page = open_page("")
    page.locator("#reading").select_option("tokens")
    page.locator("#text").fill("הילד הקטן קרא ספר .")
    expect(page.locator("#drawing .word")).to_have_count(5)
    places = page.locator("#drawing .word").evaluate_all("words => words.map(w => Number(w.getAttribute('x')))")
    assert places == sorted(places, reverse=True)
    leaf = page.locator("#drawing [role=treeitem]").filter(has=page.locator("text.word")).first
    leaf.click()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#details dd").first).to_have_text("הקטן")


def test_chinese_words_do_not_overlap(open_page: Open) -> None:
    page = open_page("")
    page.locator("#reading").select_option("tokens")
    page.locator("#text").fill("我们 昨天 在 公园 里 看见 了 你 的 朋友 。")
    expect(page.locator("#drawing .word")).to_have_count(11)
    boxes = [page.locator("#drawing .word").nth(number).bounding_box() for number in range(11)]
    edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
    assert all(right <= left for (_, right), (left, _) in pairwise(edges))


def test_tokens_are_taken_as_they_are(open_page: Open) -> None:
    page = open_page("")
    page.locator("#reading").select_option("tokens")
    page.locator("#text").fill("It doesn't work .\n\nSo be it .")
    expect(sentences(page)).to_have_count(2)
    assert words(page) == ["So", "be", "it", "."]  # the sentence at the caret
    sentences(page).first.click()
    assert words(page) == ["It", "doesn't", "work", "."]


@pytest.mark.parametrize("width", [320, 390, 768, 1400, 2560])
def test_the_page_fits_every_width(open_page: Open, width: int) -> None:
    page = open_page(TWENTY, viewport={"width": width, "height": 800})
    expect(nodes(page).first).to_be_attached()
    node(page, "PP").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    title, text, header = (page.locator(part).bounding_box() for part in ("h1", "#text", "header"))
    assert title
    assert text
    assert title["x"] == text["x"]
    assert header
    assert header["height"] < 64  # one line


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_it_is_chosen(open_page: Open, scheme: str) -> None:
    page = open_page(TELESCOPE, color_scheme=scheme)
    expect(nodes(page).first).to_be_visible()

    def brightness() -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(colour.split("(")[1].split(",")[0])

    assert (brightness() > 128) == (scheme == "light")
    page.locator("#theme").click()  # light
    assert brightness() > 128
    page.locator("#theme").click()  # dark
    assert brightness() < 128
    page.reload()
    assert brightness() < 128


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["tree", "brackets", "json"])
def test_axe_finds_nothing_to_complain_about(open_page: Open, scheme: str, view: str) -> None:
    page = open_page(f"It works. {TELESCOPE}", color_scheme=scheme, bypass_csp=True)
    expect(sentences(page)).to_have_count(2)
    page.locator("#rank").fill("2")
    page.locator("#show-probabilities").check()
    nodes(page).nth(2).click()
    page.locator(f"#tab-{view}").click()
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_axe_finds_nothing_to_complain_about_in_the_docs(open_page: Open, client: Client) -> None:
    page = open_page(bypass_csp=True)
    page.goto(f"{client.url}/docs")
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_functions_are_shown_if_the_model_has_them(open_page: Open, tmp_path: Path) -> None:
    from fencepost.parsing.load import load

    folder = random_function_model(tmp_path / "functions")
    (tmp_path / "metrics").mkdir()
    parsers = {"en": shared_parser(), "functions": load(folder)}
    with in_thread(tmp_path / "metrics", parsers) as server:
        page = open_page("", server=server)
        page.get_by_label("Model").select_option("functions")
        page.locator("#reading").select_option("tokens")
        page.locator("#text").fill("the cat sleeps in the garden .")
        expect(page.locator("#drawing .word")).to_have_count(7)
        labels = page.locator("#drawing .phrase").all_text_contents()
        number = next(at for at, label in enumerate(labels) if "-" in label)
        page.locator("#drawing [role=treeitem]").filter(has=page.locator(".phrase")).nth(number).click()
        expect(page.locator("#details")).to_contain_text("Function")
        expect(page.locator("#details")).to_contain_text(f"{labels[number].split('-')[1]}: ")


def labels_of(page: Page) -> list[str]:
    found: list[str] = page.locator("#drawing .phrase").all_text_contents()
    return found


def test_a_function_is_explained_in_words_with_its_probability(open_page: Open) -> None:
    page = open_page("She lives in Rome.")
    page.locator("#drawing [role=treeitem]").filter(has=page.locator("text.phrase:text-is('NP-SBJ')")).click()
    expect(page.locator("#details h2")).to_have_text("NP: noun phrase")
    expect(page.locator("#details dd").first).to_have_text(re.compile(r"^SBJ: subject \(\d+(\.\d)?%\)$"))
    chosen = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert re.match(r"NP-SBJ, noun phrase, subject, [\d.]+%: She$", chosen)


def test_functions_can_be_hidden_and_a_link_keeps_that(open_page: Open) -> None:
    page = open_page("She lives in Rome.")
    expect(node(page, "PP")).to_have_count(1)
    with_functions = labels_of(page)
    assert any("-" in label for label in with_functions)
    page.get_by_label("functions", exact=True).uncheck()
    plain = labels_of(page)
    assert plain == [label.split("-")[0] for label in with_functions]
    page.get_by_role("tab", name="Brackets").click()
    expect(page.locator("#brackets")).not_to_contain_text("-SBJ")
    link = page.url
    page.get_by_role("tab", name="Tree").click()
    page.get_by_label("functions", exact=True).check()
    assert page.url != link
    again = open_page()
    again.goto("about:blank")
    again.goto(link)
    expect(again.locator("#drawing .word")).to_have_count(5)
    assert labels_of(again) == plain


def test_functions_are_not_offered_by_a_model_without_them(open_page: Open, tmp_path: Path) -> None:
    plain = SlowParser(shared_parser())
    plain.vocabularies = replace(plain.vocabularies, functions=None)
    with in_thread(tmp_path, {"en": plain}) as server:
        page = open_page("She lives in Rome.", server=server)
        expect(node(page, "PP")).to_have_count(1)
        expect(page.locator("#show-functions")).to_be_hidden()
        assert not any("-" in label for label in labels_of(page))


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("NP", 2),  # with any function or none
        ("@NP", 2),
        ("NP < PRP", 1),  # a tag; it is also a function, purpose
        ("NP-SBJ", 1),
        ("/SBJ/", 1),
        ("/-PRP$/", 0),
        ("S < (NP !<< PP)", 1),
        ("S < NP-SBJ", 1),
        ("VP $- NP-SBJ", 1),
        ("S < NP [< NP-SBJ | < VP]", 0),  # it names a function: NP has none
        ("S < @NP [< NP-SBJ | < VP]", 1),
    ],
)
def test_patterns_find_phrases_with_functions(open_page: Open, pattern: str, count: int) -> None:
    page = open_page("She lives in Rome.")
    expect(node(page, "NP")).to_have_count(2)
    page.locator("#pattern").fill(pattern)
    expect(page.locator("#matches")).to_have_text(re.compile(rf"^{count or 'No'} match"))
    assert page.locator(".node.matches").count() == count
    expect(page.locator("#functions-hint")).to_contain_text("NP also finds NP-SBJ.")


def test_patterns_are_found_in_a_text_whose_trees_are_too_large_for_one_request(open_page: Open) -> None:
    page = open_page("")
    page.locator("#text").fill(f"X{'x' * 2_985} works. " * 330)
    expect(sentences(page)).to_have_count(330)
    page.locator("#pattern").fill("VP < VBZ")
    expect(page.locator("#matches")).to_have_text("330 matches in 330 sentences")
    page.locator("#previous-match").click()  # in the sentence at the caret, the last one
    page.locator("#previous-match").click()
    expect(sentences(page).nth(328)).to_have_attribute("aria-selected", "true")


def test_the_server_prepares_for_a_search_when_the_pattern_box_is_entered(open_page: Open) -> None:
    page = open_page(TELESCOPE)
    expect(nodes(page).first).to_be_visible()
    with page.expect_response("**/v1/search") as answer:
        page.locator("#pattern").focus()
    assert answer.value.ok
    expect(page.locator("#matches")).to_have_text("")


def test_patterns_are_found_in_all_sentences(open_page: Open) -> None:
    page = open_page(f"It works. {TELESCOPE}", expected="422")
    expect(sentences(page)).to_have_count(2)
    page.locator("#pattern").fill("NP < PRP")
    expect(page.locator("#matches")).to_have_text("2 matches in 2 sentences")
    assert page.locator(".node.matches").count() == 1
    expect(sentences(page).nth(1)).to_contain_text("1×")
    page.get_by_role("tab", name="Brackets").click()
    expect(page.locator("#details")).to_be_hidden()
    page.locator("#pattern").press("Enter")
    page.locator("#pattern").press("Enter")
    assert words(page)[0] == "I"
    expect(page.locator("#drawing")).to_be_visible()
    expect(page.locator("#details h2")).to_have_text("NP: noun phrase")
    page.locator("#pattern").fill("NP < VP")
    expect(page.locator("#matches")).to_have_text("No matches")
    page.locator("#pattern").fill("NP < (")
    expect(page.locator("#matches")).to_have_text(
        re.compile(r"^Column 7: a label is missing after \(\. A label such as NP, ")
    )
    expect(page.locator("#matches")).to_have_class(re.compile("wrong"))
    page.locator("#pattern").fill("NP < VP")
    expect(page.locator("#matches")).to_have_text("No matches")
    expect(page.locator("#matches")).not_to_have_class(re.compile("wrong"))
    page.locator("#pattern").fill("")
    expect(page.locator("#matches")).to_have_text("")
    assert page.locator(".node.matches").count() == 0
