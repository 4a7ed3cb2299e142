// Trees in brackets, read into nodes: {label, plain, function, start, end, children, parent, index} for phrases, and
// {tag, word, start, end, parent, index} for words. Nodes are listed outer before inner, as the server lists them.

const ROOTS = new Set(["TOP", "ROOT", "", "VROOT"]);
const BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"};

const unescapeWord = (word) => word.replace(/-[LR][RCS]B-/g, (mark) => BRACKETS[mark]);

// The nodes of a tree in brackets. `tokens` give the words as they are in the text.
export function readTree(text, tokens) {
  const nodes = [];
  const open = [];
  let words = 0;
  const symbols = text.match(/\(|\)|[^\s()]+/g) ?? [];
  for (let at = 0; at < symbols.length; at++) {
    if (symbols[at] === ")") {
      open.pop().end = words;
      continue;
    }
    const label = symbols[at + 1] === "(" ? "" : symbols[++at];
    const parent = open.at(-1) ?? null;
    const node = {index: nodes.length, parent, start: words};
    nodes.push(node);
    parent?.children.push(node);
    const next = symbols[at + 1];
    if (next !== "(" && next !== ")") {
      const word = tokens?.[words]?.text ?? unescapeWord(next);
      Object.assign(node, {tag: label, word, end: ++words});
      at += 2;
    } else {
      Object.assign(node, {label, children: []});
      open.push(node);
    }
  }
  return nodes;
}

export const isPhrase = (node) => node.children !== undefined;
export const isRoot = (node) => node.parent === null && isPhrase(node) && ROOTS.has(node.label);

// Gives each phrase what the server says about it: its label without a function, its function, and probabilities.
export function addFigures(nodes, constituents) {
  const phrases = nodes.filter(isPhrase);
  for (const node of phrases) Object.assign(node, {plain: node.label, function: null});
  phrases.filter((node) => !isRoot(node)).forEach((node, number) => {
    const part = constituents?.[number];
    if (!part) return;
    const {label, probability, function_probability: functionProbability} = part;
    Object.assign(node, {plain: label, function: part.function ?? null, probability, functionProbability});
  });
  return nodes;
}

// A tree in brackets without functions: NP-SBJ becomes NP. Its nodes have the same numbers.
export function withoutFunctions(text, constituents) {
  let number = 0;
  return text.replace(/\(([^\s()]*)(?= ?\()/g, (opening, label, at) =>
    at === 0 && ROOTS.has(label) ? opening : `(${constituents[number++].label}`);
}

const key = (node) => `${node.plain} ${node.start} ${node.end}`;

function counted(nodes) {
  const counts = new Map();
  for (const node of nodes.filter(isPhrase)) counts.set(key(node), (counts.get(key(node)) ?? 0) + 1);
  return counts;
}

// The phrases of `nodes` that the other tree doesn't have.
export function phrasesNotIn(nodes, others) {
  const counts = counted(others);
  return nodes.filter((node) => {
    if (!isPhrase(node)) return false;
    const left = counts.get(key(node)) ?? 0;
    counts.set(key(node), left - 1);
    return left <= 0;
  });
}

const identity = (node) => (isPhrase(node) ? key(node) : `word ${node.start}`);

// The nodes that both trees have, but below different parents.
export function movedNodes(nodes, others) {
  const parents = new Map();
  for (const node of others) {
    const known = parents.get(identity(node)) ?? new Set();
    parents.set(identity(node), known.add(node.parent && identity(node.parent)));
  }
  return nodes.filter((node) => node.parent && parents.get(identity(node))?.has(identity(node.parent)) === false);
}

// The phrases that both trees have, but with different functions, each with its label in the other tree.
export function renamedNodes(nodes, others) {
  const labels = new Map(others.filter(isPhrase).map((node) => [key(node), node.label]));
  return new Map(nodes
    .filter((node) => isPhrase(node) && labels.has(key(node)) && labels.get(key(node)) !== node.label)
    .map((node) => [node, labels.get(key(node))]));
}

export const leaves = (nodes) => nodes.filter((node) => !isPhrase(node));

// The text of a phrase as it is in its sentence, or its words where there is no text.
export function textOf(node, sentence) {
  const [first, last] = [sentence.tokens[node.start], sentence.tokens[node.end - 1]];
  return [...sentence.text].slice(first.start, last.end).join("").replace(/\s+/g, " ");
}

// Brackets over several lines, with words beside their tags. `labelOf` gives the label of a phrase.
export function indented(node, labelOf, depth = 0) {
  if (!isPhrase(node)) return `(${node.tag} ${escapeWord(node.word)})`;
  const inner = node.children.map((child) =>
    isPhrase(child) ? `\n${"  ".repeat(depth + 1)}${indented(child, labelOf, depth + 1)}` : ` ${indented(child, labelOf)}`);
  return `(${labelOf(node)}${inner.join("")})`;
}

function escapeWord(word) {
  return word.replace(/[(){}]/g, (mark) => ({"(": "-LRB-", ")": "-RRB-", "{": "-LCB-", "}": "-RCB-"})[mark]);
}

// True if most words run from right to left; a word runs the way of its first letter.
export function isRightToLeft(words) {
  const letters = words.map((word) => word.match(/\p{L}/u)?.[0]).filter(Boolean);
  const right = letters.filter((letter) => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(letter));
  return right.length > letters.length / 2;
}
