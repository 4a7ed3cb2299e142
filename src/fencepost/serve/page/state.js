// What the page knows: models, sentences, and what is chosen.

import {writeLink} from "./link.js";
import {addFigures, isPhrase, readTree, withoutFunctions} from "./trees.js";

export const get = (id) => document.getElementById(id);
export const percent = (probability) => `${(100 * probability).toFixed(probability > 0.995 || probability < 0.0005 ? 1 : 0)}%`;
export const count = (number, noun, several = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : several}`;

export const state = {
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

export function trees(sentence) {
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

export const shownSentence = () => state.sentences[state.sentence];
export const shownTree = () => shownSentence() && trees(shownSentence())[state.rank];
export const labelOf = (node) => (isPhrase(node) ? (state.functions ? node.label : node.plain) : node.tag);
export const plainTree = (sentence) => withoutFunctions(sentence.tree, sentence.constituents);
export const chosenModel = () => state.models.find((model) => model.name === state.model) ?? state.models[0];

export function remember() {
  const text = get("text").value;
  return writeLink({...state, text});
}
