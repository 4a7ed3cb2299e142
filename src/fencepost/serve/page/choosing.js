// Chooses a sentence, one of its trees, and a node of the tree, with the mouse or with keys.

import {showDetails} from "./details.js";
import {analyzeShown} from "./parsing.js";
import {markSentence, showProblem, showTree} from "./showing.js";
import {get, remember, shownSentence, shownTree, state, trees} from "./state.js";
import {isPhrase} from "./trees.js";

export function chooseSentence(number, {keep = false} = {}) {
  const next = Math.min(Math.max(0, number), Math.max(0, state.sentences.length - 1));
  if (keep && next === state.sentence) return;
  state.sentence = next;
  chooseTree(0);
  markSentence();
}

export function chooseTree(rank) {
  const last = shownSentence() ? trees(shownSentence()).length - 1 : 0;
  state.rank = Math.min(Math.max(0, rank), last);
  state.node = null;
  showTree();
}

export function chooseNode(node, {focus = false} = {}) {
  const {elements, cover} = state.drawing;
  if (state.node) mark(elements[state.node.index], false);
  state.node = node;
  const element = elements[node.index];
  for (const each of elements) each.setAttribute("tabindex", each === element ? 0 : -1);
  mark(element, true);
  cover(node);
  showDetails(node);
  if (focus) element.focus({preventScroll: false});
}

function mark(element, chosen) {
  element.classList.toggle("chosen", chosen);
  element.setAttribute("aria-selected", String(chosen));
}

export function showChosen(number) {
  chooseSentence(number);
  remember();
  analyzeShown().catch(showProblem);
}

// Keys in the tree move as the eye does: up, down and sideways in the drawing.
export function moveInTree(event) {
  const nodes = shownTree().nodes;
  const from = state.node ?? nodes[0];
  const forward = state.drawing.rightToLeft ? "ArrowLeft" : "ArrowRight";
  const siblings = from.parent?.children ?? [from];
  const level = nodes.filter((node) => isPhrase(node) === isPhrase(from));
  const beside = (step) => siblings[siblings.indexOf(from) + step] ?? level[level.indexOf(from) + step];
  const targets = {
    ArrowUp: from.parent,
    ArrowDown: from.children?.[0],
    ArrowLeft: beside(forward === "ArrowLeft" ? 1 : -1),
    ArrowRight: beside(forward === "ArrowRight" ? 1 : -1),
    Home: nodes[0],
    End: nodes.at(-1),
    Enter: from,
    " ": from,
  };
  if (!(event.key in targets) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (targets[event.key]) chooseNode(targets[event.key], {focus: true});
}

export function moveInSentences(event) {
  const last = state.sentences.length - 1;
  const target = {ArrowUp: state.sentence - 1, ArrowDown: state.sentence + 1, Home: 0, End: last}[event.key];
  if (target === undefined) return;
  event.preventDefault();
  showChosen(Math.min(Math.max(0, target), last));
  get("sentences").children[state.sentence].focus();
}
