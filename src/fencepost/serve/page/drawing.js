// Draws a tree as SVG: words in one row at the bottom, each phrase centred above its children.

import {isPhrase, isRightToLeft, leaves} from "./trees.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 16;
const GAP = 16;
const ROW = 48;
const LOW_ROW = {plain: 30, noted: 42};
const DEEP = 14; // rows; those of deeper trees are lower, so that more of them can be seen at once
const SIZES = {phrase: 14, tag: 12, word: 16, note: 11};
const SANS = '"Helvetica Neue", Helvetica, Arial, "Noto Sans", "DejaVu Sans", sans-serif';

const pencil = document.createElement("canvas").getContext("2d");
const widths = new Map();

function widthOf(text, kind) {
  const key = `${kind} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    pencil.font = `${kind === "phrase" ? "600 " : ""}${SIZES[kind]}px ${SANS}`;
    widths.set(key, pencil.measureText(text).width);
  }
  return widths.get(key);
}

export function make(name, attributes = {}, ...content) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...content);
  return element;
}

// The place of each node: {node, level, center, left, width}. Levels count rows upwards from the words.
function layOut(nodes, note, labelOf) {
  const boxes = nodes.map((node) => ({node, level: 0, width: 0, left: 0, center: 0}));
  for (const box of boxes.toReversed()) {
    const {node} = box;
    const kind = isPhrase(node) ? "phrase" : "tag";
    const own = Math.max(widthOf(labelOf(node), kind), widthOf(node.word ?? "", "word"), widthOf(note(node), "note"));
    box.own = own + GAP;
    const children = (node.children ?? []).map((child) => boxes[child.index]);
    box.level = 1 + Math.max(-1, ...children.map((child) => child.level));
    box.width = Math.max(box.own, children.reduce((sum, child) => sum + child.width, 0));
  }
  for (const box of boxes) {
    const children = (box.node.children ?? []).map((child) => boxes[child.index]);
    let left = box.left + (box.width - children.reduce((sum, child) => sum + child.width, 0)) / 2;
    for (const child of children) {
      child.left = left;
      left += child.width;
    }
  }
  for (const box of boxes.toReversed()) {
    const children = (box.node.children ?? []).map((child) => boxes[child.index]);
    const middle = children.length ? (children[0].center + children.at(-1).center) / 2 : box.left + box.width / 2;
    box.center = Math.min(Math.max(middle, box.left + box.own / 2), box.left + box.width - box.own / 2);
  }
  return boxes;
}

// The drawing, and the element of each node. `options`: labelOf(node) is its label or tag, and note(node) is written
// below it; differs, moved and matches are sets of nodes: moved ones hang elsewhere; name is what a screen reader calls
// the tree; describe(node) what it says of a node.
export function draw(nodes, options) {
  const {labelOf, note = () => "", differs = new Set(), moved = new Set(), matches = new Set(), name, describe} = options;
  const boxes = layOut(nodes, note, labelOf);
  const rightToLeft = isRightToLeft(leaves(nodes).map((node) => node.word));
  const width = Math.ceil(boxes[0].width) + 2 * MARGIN;
  const top = boxes[0].level;
  const lowest = nodes.some((node) => note(node)) ? LOW_ROW.noted : LOW_ROW.plain;
  const row = Math.max(lowest, Math.round(ROW * Math.min(1, DEEP / top)));
  const height = top * row + 46 + 2 * MARGIN;
  const x = (box) => MARGIN + (rightToLeft ? boxes[0].width - box.center : box.center);
  const y = (box) => MARGIN + (top - box.level) * row + SIZES.phrase;

  const svg = make("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "tree", "aria-label": name, "aria-describedby": "keys"});
  const covered = make("rect", {class: "covered", rx: 4, "aria-hidden": "true", width: 0, height: 0});
  const branches = make("g", {"aria-hidden": "true"});
  svg.append(covered, branches);
  for (const box of boxes) {
    const middle = y(box) + (note(box.node) ? 24 : 13);
    const branch = ({index}) =>
      `M${x(box).toFixed(1)} ${middle - 7}V${middle}H${x(boxes[index]).toFixed(1)}V${y(boxes[index]) - SIZES.phrase}`;
    const children = box.node.children ?? [];
    const still = children.filter((child) => !moved.has(child));
    // One path: several would look darker where they overlap.
    if (still.length) branches.append(make("path", {class: "branch", d: still.map(branch).join("")}));
    for (const child of children.filter((child) => moved.has(child))) {
      branches.append(make("path", {class: "branch differs", d: branch(child)}));
    }
  }
  const elements = nodes.map((node) => {
    const box = boxes[node.index];
    const siblings = node.parent?.children ?? [node];
    const group = make("g", {
      class: ["node", differs.has(node) ? "differs" : "", matches.has(node) ? "matches" : ""].filter(Boolean).join(" "),
      role: "treeitem", tabindex: -1, "aria-label": describe(node), "aria-level": depth(node) + 1,
      "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(node) + 1, "aria-selected": "false",
    });
    if (isPhrase(node)) group.setAttribute("aria-expanded", "true");
    const label = labelOf(node);
    const kind = isPhrase(node) ? "phrase" : "tag";
    const plate = Math.max(widthOf(label, kind), widthOf(note(node), "note")) + 12;
    const tall = note(node) ? 32 : 20;
    group.append(target(x(box), y(box), Math.max(plate, widthOf(node.word ?? "", "word")), isPhrase(node) ? tall : 48));
    group.append(make("rect", {class: "plate", x: x(box) - plate / 2, y: y(box) - 15, width: plate, height: tall, rx: 4}));
    group.append(make("text", {class: kind, x: x(box), y: y(box)}, label));
    if (note(node)) group.append(make("text", {class: "note", x: x(box), y: y(box) + 13}, note(node)));
    if (!isPhrase(node)) {
      const attributes = {class: "word", x: x(box), y: y(box) + 24};
      group.append(make("text", rightToLeft ? {...attributes, direction: "rtl"} : attributes, visible(node.word)));
    }
    svg.append(group);
    return group;
  });
  const wordBoxes = boxes.filter((box) => !isPhrase(box.node));
  const cover = (node) => {
    const own = wordBoxes.slice(node.start, node.end);
    const edges = own.flatMap((box) => [x(box) - box.width / 2 + 3, x(box) + box.width / 2 - 3]);
    const left = Math.min(...edges);
    for (const [key, value] of Object.entries({x: left, y: y(own[0]) + 8, width: Math.max(...edges) - left, height: 22})) {
      covered.setAttribute(key, value);
    }
  };
  return {svg, elements, rightToLeft, cover, root: x(boxes[0])};
}

// What can be clicked, without gaps and large enough for a finger.
const target = (center, line, wide, tall) =>
  make("rect", {class: "target", x: center - wide / 2 - 4, y: line - 19, width: wide + 8, height: tall + 8});

function depth(node) {
  let count = 0;
  for (let above = node.parent; above; above = above.parent) count += 1;
  return count;
}

// Control characters and the like as something that can be seen.
const visible = (word) => word.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, "\ufffd");

const COLOURS = {
  phrase: {"font-size": 14, "font-weight": 600, fill: "#1a4480"},
  tag: {"font-size": 12, fill: "#5c6670"},
  word: {"font-size": 16, fill: "#111111"},
  note: {"font-size": 11, fill: "#55606b"},
};

// The drawing as a file that needs no style sheet: black on white, whatever the page's theme.
export function toFile(svg, title) {
  const copy = svg.cloneNode(true);
  for (const name of ["role", "aria-label", "aria-describedby"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("font-family", SANS.replaceAll('"', "'"));
  copy.setAttribute("text-anchor", "middle");
  copy.querySelector(".covered").remove();
  for (const element of copy.querySelectorAll(".plate, .target")) element.remove();
  for (const path of copy.querySelectorAll("path")) {
    const attributes = {fill: "none", stroke: "#9aa4ae", "stroke-width": 1.2};
    for (const [key, value] of Object.entries(attributes)) path.setAttribute(key, value);
    path.removeAttribute("class");
  }
  for (const text of copy.querySelectorAll("text")) {
    for (const [key, value] of Object.entries(COLOURS[text.getAttribute("class")])) text.setAttribute(key, value);
    text.removeAttribute("class");
  }
  for (const group of copy.querySelectorAll("g")) {
    for (const name of group.getAttributeNames()) group.removeAttribute(name);
  }
  copy.prepend(make("title", {}, title), make("rect", {width: "100%", height: "100%", fill: "#ffffff"}));
  return new XMLSerializer().serializeToString(copy);
}
