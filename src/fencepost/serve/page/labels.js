// What labels mean, from the server's table.

import {isPhrase, splitLabel} from "./trees.js";

let table = {phrases: {}, tags: {}, functions: {}};
export const setLabels = (labels) => { table = labels; };

// The meaning of a node's label and of its function, each {label, meaning, example}, or undefined.
export function explain(node) {
  if (!isPhrase(node)) return {label: {label: node.tag, ...table.tags[node.tag]}};
  const [label, name] = splitLabel(node.label);
  const found = {label: {label, ...table.phrases[label]}};
  if (name) found.function = {label: name, ...table.functions[name]};
  return found;
}

// An example as nodes of the page; stars mark what the label names.
export function marked(example) {
  return example.split("*").map((part, number) => {
    if (number % 2 === 0) return part;
    const strong = document.createElement("strong");
    strong.textContent = part;
    return strong;
  });
}
