// Explains a node in words.

import {explain, marked} from "./labels.js";
import {get, labelOf, percent, shownSentence} from "./state.js";
import {isPhrase, isRoot, textOf} from "./trees.js";

export const shortened = (text) => (text.length > 60 ? `${text.slice(0, 40)} … ${text.slice(-15)}` : text);

// What a screen reader says about a node.
export function spoken(node, sentence) {
  const {label, function: name} = explain(node);
  const meaning = [label.meaning ?? label.label, name ? name.meaning ?? name.label : ""].filter(Boolean).join(", ");
  if (!isPhrase(node)) return `${node.word}: ${meaning}`;
  const sure = node.probability === undefined ? "" : `, ${percent(node.probability)}`;
  return `${labelOf(node)}, ${meaning}${sure}: ${shortened(textOf(node, sentence))}`;
}

export function showDetails(node) {
  const sentence = shownSentence();
  const {label, function: name} = explain(node);
  const title = document.createElement("h2");
  const written = document.createElement("span");
  written.className = "label";
  written.textContent = label.label;
  title.append(written, `: ${label.meaning ?? "this label has no description"}`);
  const rows = [];
  if (name) {
    const sure = node.functionProbability === undefined ? "" : ` (${percent(node.functionProbability)})`;
    rows.push(["Function", [`${name.label}: ${name.meaning ?? "no description"}${sure}`]]);
  }
  rows.push([isPhrase(node) ? "Text" : "Word", [isolated(isPhrase(node) ? textOf(node, sentence) : node.word)]]);
  rows.push(["Position", [positionOf(node, sentence.tokens.length)]]);
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

function positionOf({start, end}, words) {
  return end - start === 1 ? `word ${end} of ${words}` : `words ${start + 1} to ${end} of ${words}`;
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
