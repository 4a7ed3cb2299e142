// The page: keeps its state, and shows it.

import {draw, toFile} from "./drawing.js";
import {examplesOf, readingOf} from "./examples.js";
import {copy, save, saveText, toPng} from "./files.js";
import {explain, marked, namesFunction, setLabels} from "./labels.js";
import {readLink, writeLink} from "./link.js";
import {Failure, cancel, getJson, parse, postJson, setToken} from "./server.js";
import {
  addFigures, indented, isPhrase, isRightToLeft, isRoot, phrasesNotIn, readTree, textOf, withoutFunctions,
} from "./trees.js";

const TREES = 10; // best trees of a sentence
const LONG = 1000; // characters; of a longer text all trees come first, and the chosen sentence is analyzed then
const QUICK = 50; // milliseconds of silence after which a short text is parsed
const VIEWS = ["tree", "brackets", "json"];
const THEMES = ["auto", "light", "dark"];
const get = (id) => document.getElementById(id);
const percent = (probability) => `${(100 * probability).toFixed(probability > 0.995 || probability < 0.0005 ? 1 : 0)}%`;

const state = {
  models: [],
  model: null, // null for the server's first
  reading: "text",
  sentences: [], // as the server sends them
  sentence: 0, // the number of the one that is shown
  rank: 0, // the number of the tree that is shown
  node: null, // the chosen one
  view: "tree",
  functions: true, // labels have functions: NP-SBJ
  pattern: "",
  found: [], // matches: {sentence, node}, where node is the number of a node in the sentence's best tree
  drawing: null,
};

// The trees of a sentence, read when they are first shown.

const treesOf = new WeakMap();

function trees(sentence) {
  if (!treesOf.has(sentence)) {
    const all = sentence.kbest ?? [{tree: sentence.tree, constituents: sentence.constituents}];
    treesOf.set(sentence, all.map((each) => ({
      nodes: addFigures(readTree(each.tree, sentence.tokens), each.constituents),
      text: each.tree,
      plain: withoutFunctions(each.tree, each.constituents),
      probability: each.probability,
    })));
  }
  return treesOf.get(sentence);
}

const shownSentence = () => state.sentences[state.sentence];
const shownTree = () => shownSentence() && trees(shownSentence())[state.rank];
const labelOf = (node) => (isPhrase(node) ? (state.functions ? node.label : node.plain) : node.tag);
const plainTree = (sentence) => withoutFunctions(sentence.tree, sentence.constituents);

// Parsing

let timer = 0;

function parseSoon(choose) {
  clearTimeout(timer);
  const {length} = get("text").value;
  timer = setTimeout(() => parseNow(choose), length < 2000 ? QUICK : length < 20_000 ? 300 : 800);
}

const ANALYSIS = {kbest: TREES, probabilities: true};

function common() {
  const functions = chosenModel()?.functions ?? false; // also while they are hidden: then they are explained all the same
  return state.model ? {functions, model: state.model} : {functions};
}

function request() {
  const text = get("text").value;
  const wish = text.length > LONG ? common() : {...common(), ...ANALYSIS};
  if (state.reading !== "tokens") return {...wish, text, mode: state.reading};
  const lines = text.split("\n").map((line) => line.split(/\s+/).filter(Boolean));
  return {...wish, tokens: lines.filter((words) => words.length)};
}

// Asks for more about a sentence of a long text.
async function analyzeShown() {
  const number = state.sentence;
  const sentence = shownSentence();
  if (!sentence || sentence.kbest || sentence.isAnalyzed) return;
  sentence.isAnalyzed = true;
  const words = sentence.tokens.map((token) => token.text);
  const asked = state.reading === "tokens" ? {tokens: words} : {text: sentence.text, mode: "line"};
  const {sentences: [found]} = await postJson("/v1/parse", {...common(), ...ANALYSIS, ...asked});
  if (state.sentences[number] !== sentence || !found || plainTree(found) !== plainTree(sentence)) return;
  state.sentences[number] = {...found, offset: sentence.offset, document: sentence.document};
  if (state.sentence === number && !state.node) showTree();
}

// `choose` gets the sentences and says which one to show.
async function parseNow(choose = () => 0) {
  const asked = performance.now();
  let all = [];
  cancel();
  get("drawing").classList.add("old");
  try {
    if (get("text").value.trim()) {
      await parse(request(), (sentences) => {
        const first = !all.length;
        all = [...all, ...sentences];
        state.sentences = all;
        if (first || state.sentence >= all.length) chooseSentence(choose(all));
        showSentences();
        const words = all.reduce((sum, each) => sum + each.tokens.length, 0);
        const warnings = all.flatMap((each) => each.warnings ?? []).map((each) => `${capital(each)} `);
        showStatus(`${warnings.join("")}${count(all.length, "sentence")}, ${count(words, "word")}, ${Math.round(performance.now() - asked)} ms`);
      });
    }
    showProblem(null);
  } catch (error) {
    if (error.name === "AbortError") return;
    showProblem(error);
    if (all.length) return;
  }
  if (!all.length) {
    state.sentences = [];
    chooseSentence(0);
    showSentences();
    showStatus("");
  }
  chooseSentence(choose(all), {keep: true});
  if (get("text").value.length > LONG) analyzeShown().catch(showProblem);
  get("drawing").classList.remove("old");
  searchNow();
  remember();
}

const count = (number, noun, several = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : several}`;

// The sentence at the caret. Offsets from the server count characters, positions in the page UTF-16 units.
function sentenceAtCaret(sentences) {
  const {value, selectionStart} = get("text");
  const caret = [...value.slice(0, selectionStart)].length;
  if (state.reading === "tokens") return lineAtCaret(value.slice(0, selectionStart), sentences.length);
  const after = sentences.findIndex((each) => each.offset > caret);
  return Math.max(0, (after < 0 ? sentences.length : after) - 1);
}

function lineAtCaret(before, most) {
  const lines = before.split("\n").filter((line) => line.trim()).length;
  return Math.min(Math.max(0, lines - 1), most - 1);
}

// Choosing

function chooseSentence(number, {keep = false} = {}) {
  const next = Math.min(Math.max(0, number), Math.max(0, state.sentences.length - 1));
  if (keep && next === state.sentence) return;
  state.sentence = next;
  chooseTree(0);
  markSentence();
}

function chooseTree(rank) {
  const last = shownSentence() ? trees(shownSentence()).length - 1 : 0;
  state.rank = Math.min(Math.max(0, rank), last);
  state.node = null;
  showTree();
}

function chooseNode(node, {focus = false} = {}) {
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

// Showing

function showStatus(text) {
  get("status").textContent = text;
}

function showProblem(error) {
  const box = get("problem");
  box.hidden = !error;
  get("token-form").hidden = error?.status !== 401;
  if (!error) return;
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.textContent = error.hint ?? "";
  box.replaceChildren(capital(error.message), hint);
  if (!(error instanceof Failure)) console.error(error);
}

const capital = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function showSentences() {
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

function showChosen(number) {
  chooseSentence(number);
  remember();
  analyzeShown().catch(showProblem);
}

function markSentence() {
  [...get("sentences").children].forEach((item, number) => {
    item.setAttribute("aria-selected", String(number === state.sentence));
    item.tabIndex = number === state.sentence ? 0 : -1;
  });
}

function showTree() {
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
  const withProbabilities = get("show-probabilities").checked;
  const options = {
    labelOf,
    note: (node) => (withProbabilities && node.probability !== undefined ? percent(node.probability) : ""),
    differs: new Set(added),
    matches: matchesInTree(tree),
    name: `Tree of: ${sentence.text}`,
    describe: (node) => spoken(node, sentence),
  };
  state.drawing = draw(tree.nodes, options);
  const {svg, elements, rightToLeft} = state.drawing;
  elements.forEach((element, index) => element.addEventListener("click", () => chooseNode(tree.nodes[index], {focus: true})));
  elements[0].setAttribute("tabindex", 0);
  svg.addEventListener("keydown", moveInTree);
  get("drawing").replaceChildren(svg);
  get("drawing").classList.remove("old");
  if (rightToLeft) get("drawing").scrollLeft = svg.clientWidth;
  if (state.node && tree.nodes[state.node.index] === state.node) chooseNode(state.node);
  else get("details").replaceChildren(paragraph("Select a constituent to see what it is."));
  showRank(sentence, tree, best, added);
  get("brackets").textContent = indented(tree.nodes[0], labelOf);
  get("json").textContent = JSON.stringify(sentence, null, 2);
}

function paragraph(text) {
  const element = document.createElement("p");
  element.className = "empty";
  element.textContent = text;
  return element;
}

function showRank(sentence, tree, best, added) {
  const slider = get("rank");
  slider.max = trees(sentence).length;
  slider.value = state.rank + 1;
  const odds = state.rank ? `${percent(tree.probability / best.probability)} as likely as the best` : "the best";
  const title = `Tree ${state.rank + 1} of ${slider.max}: ${odds}`;
  get("rank-label").textContent = title;
  slider.setAttribute("aria-valuetext", title);
  const missing = state.rank ? phrasesNotIn(best.nodes, tree.nodes) : [];
  const parts = [
    ...added.map((node) => changed("b", "+", node, sentence)),
    ...missing.map((node) => changed("s", "−", node, sentence)),
  ];
  const between = parts.flatMap((part, number) => (number ? [" · ", part] : [part]));
  get("difference").replaceChildren(...(parts.length ? ["Compared with the best tree: ", ...between] : []));
}

function changed(name, sign, node, sentence) {
  const element = document.createElement(name);
  element.textContent = `${sign} ${labelOf(node)}`;
  const wrapper = document.createElement("span");
  wrapper.append(element, ` “${shortened(textOf(node, sentence))}”`);
  return wrapper;
}

const shortened = (text) => (text.length > 60 ? `${text.slice(0, 40)} … ${text.slice(-15)}` : text);

// What a screen reader says about a node.
function spoken(node, sentence) {
  const {label, function: name} = explain(node);
  const meaning = [label.meaning ?? label.label, name ? name.meaning ?? name.label : ""].filter(Boolean).join(", ");
  if (!isPhrase(node)) return `${node.word}: ${meaning}`;
  const sure = node.probability === undefined ? "" : `, ${percent(node.probability)}`;
  return `${labelOf(node)}, ${meaning}${sure}: ${shortened(textOf(node, sentence))}`;
}

function showDetails(node) {
  const sentence = shownSentence();
  const {label, function: name} = explain(node);
  const title = document.createElement("h2");
  const written = document.createElement("span");
  written.className = "label";
  written.textContent = label.label;
  title.append(written, `: ${label.meaning ?? "no description of this label"}`);
  const rows = [];
  if (name) {
    const sure = node.functionProbability === undefined ? "" : ` (${percent(node.functionProbability)})`;
    rows.push(["Function", [`${name.label}: ${name.meaning ?? "no description"}${sure}`]]);
  }
  rows.push([isPhrase(node) ? "Text" : "Word", [isolated(isPhrase(node) ? textOf(node, sentence) : node.word)]]);
  rows.push(["Words", [node.end - node.start === 1 ? `${node.end}` : `${node.start + 1} to ${node.end} (${node.end - node.start} words)`]]);
  if (node.probability !== undefined) rows.push(["Probability", [meter(node.probability), ` ${percent(node.probability)}`]]);
  else if (isRoot(node)) rows.push(["Probability", ["certain: every sentence has one root"]]);
  if (label.example) rows.push(["Example", marked(label.example)]);
  const list = document.createElement("dl");
  for (const [term, content] of rows) {
    const [key, value] = [document.createElement("dt"), document.createElement("dd")];
    key.textContent = term;
    value.append(...content);
    list.append(key, value);
  }
  get("details").replaceChildren(title, list);
}

function isolated(text) {
  const element = document.createElement("bdi");
  element.textContent = text;
  return element;
}

function meter(value) {
  const element = document.createElement("meter");
  Object.assign(element, {min: 0, max: 1, low: 0.5, high: 0.9, optimum: 1, value});
  element.setAttribute("aria-label", "probability");
  return element;
}

// Keys in the tree move as the eye does: up, down and sideways in the drawing.
function moveInTree(event) {
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

// Searching for patterns

let searching = new AbortController();

async function searchNow() {
  searching.abort();
  searching = new AbortController();
  const before = state.pattern;
  state.pattern = get("pattern").value.trim();
  state.found = [];
  if (!state.pattern || !state.sentences.length) {
    if (before) showMatches("");
    return;
  }
  try {
    const treeOf = namesFunction(state.pattern) ? (sentence) => sentence.tree : plainTree;
    const body = {pattern: state.pattern, trees: state.sentences.map(treeOf)};
    const {matches} = await postJson("/v1/search", body, searching.signal);
    state.found = matches.map((match) => ({sentence: match.tree, node: match.node}));
    const inSentences = new Set(state.found.map((match) => match.sentence)).size;
    showMatches(`${count(matches.length, "match", "matches")} in ${count(inSentences, "sentence")}`);
  } catch (error) {
    if (error.name === "AbortError") return;
    showMatches([error.message, error.hint].filter(Boolean).join(". "));
  }
}

function showMatches(text) {
  get("matches").textContent = text;
  showSentences();
  showTree();
}

function matchesInTree(tree) {
  if (state.rank) return new Set();
  const own = state.found.filter((match) => match.sentence === state.sentence);
  return new Set(own.map((match) => tree.nodes[match.node]));
}

function stepMatch(step) {
  if (!state.found.length) return;
  const at = state.found.findIndex((match) => match.sentence === state.sentence && match.node === state.node?.index);
  const here = state.found.findIndex((match) => match.sentence >= state.sentence);
  const next = at < 0 ? Math.max(0, here) : (at + step + state.found.length) % state.found.length;
  const {sentence, node} = state.found[next];
  chooseSentence(sentence, {keep: state.rank === 0});
  chooseNode(shownTree().nodes[node]);
  state.drawing.elements[node].scrollIntoView({block: "nearest", inline: "center"});
}

// Views, files, links

function chooseView(view) {
  state.view = view;
  for (const each of VIEWS) {
    const tab = get(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === view));
    tab.tabIndex = each === view ? 0 : -1;
    get(`view-${each}`).hidden = each !== view;
  }
}

function moveInTabs(event) {
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!step) return;
  const next = VIEWS[(VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length];
  chooseView(next);
  get(`tab-${next}`).focus();
}

function moveInSentences(event) {
  const last = state.sentences.length - 1;
  const target = {ArrowUp: state.sentence - 1, ArrowDown: state.sentence + 1, Home: 0, End: last}[event.key];
  if (target === undefined) return;
  event.preventDefault();
  showChosen(Math.min(Math.max(0, target), last));
  get("sentences").children[state.sentence].focus();
}

const fileName = (ending) => `tree-${state.sentence + 1}.${ending}`;
const drawnFile = () => toFile(state.drawing.svg, shownSentence().text);

async function copyShown() {
  const tree = shownTree();
  if (!tree) return;
  await copy(state.view === "json" ? get("json").textContent : state.functions ? tree.text : tree.plain);
  announce(state.view === "json" ? "JSON copied" : "Brackets copied");
}

async function savePng() {
  if (!state.drawing) return;
  const {width, height} = state.drawing.svg.viewBox.baseVal;
  save(fileName("png"), await toPng(drawnFile(), width, height));
}

function remember() {
  const text = get("text").value;
  return writeLink({...state, text});
}

async function copyLink() {
  if (!remember()) {
    announce("The text is too long for a link");
    return;
  }
  await copy(location.href);
  announce("Link copied");
}

let forget = 0;

// Says something for a moment: to the eye in the status line, to a screen reader as an announcement.
function announce(text) {
  get("announcement").textContent = text;
  const before = get("status").textContent;
  showStatus(text);
  clearTimeout(forget);
  forget = setTimeout(() => {
    get("announcement").textContent = "";
    if (get("status").textContent === text) showStatus(before);
  }, 2000);
}

function showTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  get("theme").textContent = `Theme: ${theme}`;
  localStorage.setItem("fencepost-theme", theme);
}

function nextTheme() {
  const now = localStorage.getItem("fencepost-theme") ?? "auto";
  showTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

// Models and examples

const chosenModel = () => state.models.find((model) => model.name === state.model) ?? state.models[0];

function showModels() {
  get("model-choice").hidden = state.models.length < 2;
  for (const id of ["functions-choice", "functions-hint"]) get(id).hidden = !chosenModel()?.functions;
  get("model").replaceChildren(...state.models.map(({name, language}) => new Option(`${name} (${language})`, name)));
  get("model").value = chosenModel()?.name ?? "";
  const examples = examplesOf(chosenModel()?.language);
  get("examples").replaceChildren(new Option("choose …", ""), ...examples.map(([name, text]) => new Option(name, text)));
}

function setReading(reading) {
  state.reading = reading;
  get("reading").value = reading;
}

function showFunctions(shown) {
  state.functions = shown;
  get("show-functions").checked = shown;
}

function takeExample() {
  const text = get("examples").value;
  if (!text) return;
  setReading(readingOf(chosenModel()?.language));
  get("text").value = text;
  get("examples").value = "";
  parseNow();
}

async function start() {
  showTheme(localStorage.getItem("fencepost-theme") ?? "auto");
  listen();
  const link = readLink();
  get("text").value = link.text ?? "";
  showFunctions(link.functions);
  setReading(["line", "tokens"].includes(link.reading) ? link.reading : "text");
  try {
    const [{models}, labels] = await Promise.all([getJson("/v1/models"), getJson("/v1/labels")]);
    state.models = models;
    state.model = models.some((model) => model.name === link.model) ? link.model : null;
    setLabels(labels);
    get("pattern").value = link.pattern ?? "";
  } catch (error) {
    showProblem(error);
    return;
  }
  showModels();
  if (link.text === null) {
    const [, text] = examplesOf(chosenModel()?.language)[0];
    get("text").value = text;
    setReading(readingOf(chosenModel()?.language));
  }
  await parseNow(() => link.sentence);
  if (link.rank) chooseTree(link.rank);
}

function listen() {
  get("text").addEventListener("input", () => parseSoon(sentenceAtCaret));
  get("reading").addEventListener("change", (event) => {
    setReading(event.target.value);
    parseNow();
  });
  get("model").addEventListener("change", (event) => {
    state.model = event.target.value;
    showModels();
    parseNow();
  });
  get("examples").addEventListener("change", takeExample);
  get("sentences").addEventListener("keydown", moveInSentences);
  get("rank").addEventListener("input", (event) => {
    chooseTree(Number(event.target.value) - 1);
    remember();
  });
  get("show-probabilities").addEventListener("change", showTree);
  get("show-functions").addEventListener("change", (event) => {
    showFunctions(event.target.checked);
    showTree();
    remember();
  });
  get("fit").addEventListener("change", (event) => get("drawing").classList.toggle("fit", event.target.checked));
  for (const view of VIEWS) get(`tab-${view}`).addEventListener("click", () => chooseView(view));
  document.querySelector("[role=tablist]").addEventListener("keydown", moveInTabs);
  get("copy").addEventListener("click", copyShown);
  get("save-svg").addEventListener("click", () => state.drawing && saveText(fileName("svg"), drawnFile(), "image/svg+xml"));
  get("save-png").addEventListener("click", savePng);
  get("link").addEventListener("click", copyLink);
  get("theme").addEventListener("click", nextTheme);
  get("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(get("token").value);
    showProblem(null);
    start();
  });
  get("pattern").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => searchNow().then(remember), 150);
  });
  get("search-part").addEventListener("submit", (event) => {
    event.preventDefault();
    stepMatch(1);
  });
  get("next-match").addEventListener("click", () => stepMatch(1));
  get("previous-match").addEventListener("click", () => stepMatch(-1));
}

start();
