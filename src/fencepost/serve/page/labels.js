// What labels mean, from the server's table.

import {isPhrase} from "./trees.js";

let table = {phrases: {}, tags: {}, functions: {}};
export const setLabels = (labels) => { table = labels; };

// The meaning of a node's label and of its function, each {label, meaning, example}, or undefined.
export function explain(node) {
  if (!isPhrase(node)) return {label: {label: node.tag, ...table.tags[node.tag]}};
  const found = {label: {label: node.plain, ...table.phrases[node.plain]}};
  if (node.function) found.function = {label: node.function, ...table.functions[node.function]};
  return found;
}

// True if a pattern names a function, as NP-SBJ and /-TMP$/ do. PRP is a tag as well: it needs a hyphen.
export function namesFunction(pattern) {
  return [...pattern.matchAll(/(-?)([A-Za-z]+)/g)].some(([, hyphen, name]) =>
    Object.hasOwn(table.functions, name) && (hyphen || !(Object.hasOwn(table.tags, name) || Object.hasOwn(table.phrases, name))));
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
