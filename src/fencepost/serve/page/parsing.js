// Parses the text while it is typed.

import {chooseSentence} from "./choosing.js";
import {searchNow} from "./finding.js";
import {cancel, parse, postJson} from "./server.js";
import {capital, showProblem, showSentences, showStatus, showTree} from "./showing.js";
import {chosenModel, count, get, plainTree, remember, shownSentence, state} from "./state.js";

const TREES = 10; // best trees of a sentence
const LONG = 1000; // characters; for a longer text we first get all trees, then analyze the chosen sentence
const QUICK = 30; // milliseconds of silence after which a short text is parsed
const ANALYSIS = {kbest: TREES, probabilities: true};
let timer = 0;

export function parseSoon(choose) {
  clearTimeout(timer);
  const {length} = get("text").value;
  timer = setTimeout(() => parseNow(choose), length < 2000 ? QUICK : length < 20_000 ? 300 : 800);
}

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
export async function analyzeShown() {
  const number = state.sentence;
  const sentence = shownSentence();
  if (!sentence || sentence.kbest || sentence.isAnalyzed) return;
  sentence.isAnalyzed = true;
  const words = sentence.tokens.map((token) => token.text);
  const line = sentence.text.replaceAll("\n", " "); // a line end would end the sentence
  const asked = state.reading === "tokens" ? {tokens: words} : {text: line, mode: "line"};
  const {sentences: [found]} = await postJson("/v1/parse", {...common(), ...ANALYSIS, ...asked});
  if (state.sentences[number] !== sentence || !found || plainTree(found) !== plainTree(sentence)) return;
  state.sentences[number] = {...found, offset: sentence.offset, document: sentence.document};
  if (state.sentence === number && !state.node) showTree();
}

// `choose` gets the sentences and says which one to show.
export async function parseNow(choose = () => 0) {
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
        const figures = `${count(all.length, "sentence")}, ${count(words, "word")}, ${Math.round(performance.now() - asked)} ms`;
        const warnings = all.flatMap((each) => each.warnings ?? []).map((each) => capital(each));
        showStatus([...warnings, figures].join("\n"));
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

// The sentence at the caret. Offsets from the server count characters, positions in the page UTF-16 units.
export function sentenceAtCaret(sentences) {
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
