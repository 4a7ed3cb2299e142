// Shows sentences, the tree, how it differs from the best one, and problems.

import {chooseNode, moveInTree, showChosen} from "./choosing.js";
import {shortened, spoken} from "./details.js";
import {draw} from "./drawing.js";
import {matchesInTree} from "./finding.js";
import {Failure} from "./server.js";
import {get, labelOf, percent, shownSentence, shownTree, state, trees} from "./state.js";
import {indented, isRightToLeft, movedNodes, phrasesNotIn, renamedNodes, textOf} from "./trees.js";

export function showStatus(text) {
  get("status").textContent = text;
}

export function showProblem(error) {
  const box = get("problem");
  box.hidden = !error;
  get("token-form").hidden = error?.status !== 401;
  if (!error) return;
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.textContent = error.hint ? capital(error.hint) : "";
  box.replaceChildren(capital(error.message), hint);
  if (!(error instanceof Failure)) console.error(error);
}

export const capital = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

export function showSentences() {
  const list = get("sentences");
  get("sentences-part").hidden = state.sentences.length < 2;
  while (list.children.length > state.sentences.length) list.lastChild.remove();
  state.sentences.forEach((sentence, number) => {
    const item = list.children[number] ?? list.appendChild(sentenceItem(number));
    if (item.textOfSentence !== sentence.text) {
      item.textOfSentence = sentence.text;
      const words = item.querySelector(".words");
      words.textContent = sentence.text.replace(/\s+/g, " ");
      words.dir = isRightToLeft(sentence.tokens.map((token) => token.text)) ? "rtl" : "ltr";
    }
    const matches = state.found.filter((match) => match.sentence === number).length;
    item.querySelector(".count").textContent = matches ? `${matches}×` : "";
  });
  markSentence();
}

function sentenceItem(number) {
  const item = document.createElement("li");
  item.setAttribute("role", "option");
  for (const name of ["number", "words", "count"]) {
    const part = document.createElement("span");
    part.className = name;
    item.append(part);
  }
  item.querySelector(".number").textContent = number + 1;
  item.addEventListener("click", () => showChosen(number));
  return item;
}

export function markSentence() {
  [...get("sentences").children].forEach((item, number) => {
    item.setAttribute("aria-selected", String(number === state.sentence));
    item.tabIndex = number === state.sentence ? 0 : -1;
  });
  const item = get("sentences").children[state.sentence];
  if (item && item !== revealed) reveal(item);
}

let revealed = null; // the item that was last brought into view: the user may have scrolled away since then

// Scrolls the list, but not the page. The heights of items out of view are estimates until they have come into view, so
// it looks again in the next frames.
function reveal(item, looks = 5) {
  revealed = item;
  const list = get("sentences");
  const [seen, own] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
  if (own.top < seen.top || own.bottom > seen.bottom) {
    list.scrollTop += own.top - seen.top - (seen.height - own.height) / 2;
  }
  if (looks > 1) requestAnimationFrame(() => item === revealed && reveal(item, looks - 1));
}

export function showTree() {
  const sentence = shownSentence();
  const tree = shownTree();
  get("rank-part").hidden = !sentence?.kbest || sentence.kbest.length < 2;
  if (!tree) {
    state.drawing = null;
    get("drawing").replaceChildren(paragraph("The tree appears here."));
    get("details").replaceChildren(paragraph("Select a constituent to see what it is."));
    for (const id of ["brackets", "json", "difference"]) get(id).textContent = "";
    return;
  }
  const best = trees(sentence)[0];
  const added = state.rank ? phrasesNotIn(tree.nodes, best.nodes) : [];
  const moved = state.rank ? movedNodes(tree.nodes, best.nodes) : [];
  const renamed = state.rank && state.functions ? renamedNodes(tree.nodes, best.nodes) : new Map();
  const withProbabilities = get("show-probabilities").checked;
  const options = {
    labelOf,
    note: (node) => (withProbabilities && node.probability !== undefined ? percent(node.probability) : ""),
    differs: new Set([...added, ...renamed.keys()]),
    moved: new Set([...added, ...moved]),
    matches: matchesInTree(tree),
    name: `Tree of: ${sentence.text}`,
    describe: (node) => spoken(node, sentence),
  };
  state.drawing = draw(tree.nodes, options);
  const {svg, elements} = state.drawing;
  elements.forEach((element, index) => element.addEventListener("click", () => chooseNode(tree.nodes[index], {focus: true})));
  elements[0].setAttribute("tabindex", 0);
  svg.addEventListener("keydown", moveInTree);
  get("drawing").replaceChildren(svg);
  get("drawing").classList.remove("old");
  scrollToStart(get("drawing"), state.drawing);
  if (state.node && tree.nodes[state.node.index] === state.node) chooseNode(state.node);
  else get("details").replaceChildren(paragraph("Select a constituent to see what it is."));
  showRank(sentence, tree, best, {added, renamed});
  get("brackets").textContent = indented(tree.nodes[0], labelOf);
  get("json").textContent = JSON.stringify(sentence, null, 2);
}

function paragraph(text) {
  const element = document.createElement("p");
  element.className = "empty";
  element.textContent = text;
  return element;
}

// Shows the first words, or the root where the words are out of sight.
function scrollToStart(box, {svg, rightToLeft, root}) {
  const isTall = svg.clientHeight > box.clientHeight;
  if (isTall) box.scrollLeft = root - box.clientWidth / 2;
  else box.scrollLeft = rightToLeft ? svg.clientWidth : 0;
}

function showRank(sentence, tree, best, {added, renamed}) {
  const slider = get("rank");
  slider.max = trees(sentence).length;
  slider.value = state.rank + 1;
  const odds = state.rank ? `${percent(tree.probability / best.probability)} as likely as the best` : "the best";
  const title = `Tree ${state.rank + 1} of ${slider.max}: ${odds}`;
  get("rank-label").textContent = title;
  slider.setAttribute("aria-valuetext", title);
  const missing = state.rank ? phrasesNotIn(best.nodes, tree.nodes) : [];
  const parts = [
    ...added.map((node) => changed("b", `new ${labelOf(node)}`, node, sentence)),
    ...missing.map((node) => changed("b", `no ${labelOf(node)}`, node, sentence)),
    ...[...renamed].map(([node, before]) => changed("b", `${node.label} instead of ${before}`, node, sentence)),
  ];
  const between = parts.flatMap((part, number) => (number ? [" · ", part] : [part]));
  get("difference").replaceChildren(...(parts.length ? ["Compared with the best tree: ", ...between] : []));
}

function changed(name, words, node, sentence) {
  const element = document.createElement(name);
  element.textContent = words;
  const wrapper = document.createElement("span");
  wrapper.append(element, ` “${shortened(textOf(node, sentence))}”`);
  return wrapper;
}
