// Finds a pattern in the trees of all sentences.

import {chooseNode, chooseSentence} from "./choosing.js";
import {namesFunction} from "./labels.js";
import {postJson} from "./server.js";
import {capital, showSentences, showTree} from "./showing.js";
import {count, get, plainTree, remember, shownTree, state} from "./state.js";
import {chooseView} from "./views.js";

const MOST_SENT = 250_000; // characters of trees in one request: the server refuses large ones

let searching = new AbortController();
let searchTimer = 0;

export function searchSoon() {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(() => searchNow().then(remember), 150);
}

// The server starts a process for the first search, which takes a second or more. So it starts while the user types.
export function prepareSearch() {
  postJson("/v1/search", {pattern: "__", trees: []}).catch(() => {}); // the search itself reports errors
}

export async function searchNow() {
  searching.abort();
  searching = new AbortController();
  const before = state.pattern;
  state.pattern = get("pattern").value.trim();
  state.found = [];
  if (!state.pattern || !state.sentences.length) {
    if (before) showMatches("");
    return;
  }
  const waiting = setTimeout(() => say("Searching …"), 300); // the first search takes a second
  try {
    const treeOf = namesFunction(state.pattern) ? (sentence) => sentence.tree : plainTree;
    const {matches, truncated} = await search(state.pattern, state.sentences.map(treeOf), searching.signal);
    state.found = matches.map((match) => ({sentence: match.tree, node: match.node}));
    const inSentences = new Set(state.found.map((match) => match.sentence)).size;
    const found = `${count(matches.length, "match", "matches")} in ${count(inSentences, "sentence")}`;
    showMatches(matches.length ? `${truncated ? "The first " : ""}${found}` : "No matches");
  } catch (error) {
    if (error.name === "AbortError") return;
    const [message] = error.message.split("\n"); // the lines below it point at a column
    showMatches([message, error.hint].filter(Boolean).map(capital).join(" "), true);
  } finally {
    clearTimeout(waiting);
  }
}

// The matches in all trees, some trees at a time.
async function search(pattern, trees, signal) {
  let all = [];
  for (let first = 0, next; first < trees.length; first = next) {
    let size = 0;
    for (next = first; next < trees.length && (next === first || size + trees[next].length <= MOST_SENT); next += 1) {
      size += trees[next].length;
    }
    const {matches, truncated} = await postJson("/v1/search", {pattern, trees: trees.slice(first, next)}, signal);
    const before = first;
    all = [...all, ...matches.map((match) => ({...match, tree: match.tree + before}))];
    if (truncated) return {matches: all, truncated};
  }
  return {matches: all, truncated: false};
}

function showMatches(text, wrong = false) {
  say(text, wrong);
  showSentences();
  showTree();
}

function say(text, wrong = false) {
  get("matches").textContent = text;
  get("matches").classList.toggle("wrong", wrong);
}

export function matchesInTree(tree) {
  if (state.rank) return new Set();
  const own = state.found.filter((match) => match.sentence === state.sentence);
  return new Set(own.map((match) => tree.nodes[match.node]));
}

export function stepMatch(step) {
  if (!state.found.length) return;
  const at = state.found.findIndex((match) => match.sentence === state.sentence && match.node === state.node?.index);
  const here = state.found.findIndex((match) => match.sentence >= state.sentence);
  const next = at < 0 ? Math.max(0, here) : (at + step + state.found.length) % state.found.length;
  const {sentence, node} = state.found[next];
  chooseView("tree");
  chooseSentence(sentence, {keep: state.rank === 0});
  chooseNode(shownTree().nodes[node]);
  state.drawing.elements[node].scrollIntoView({block: "nearest", inline: "center"});
}
