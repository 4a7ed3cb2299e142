// The three views, and what can be copied or saved of them.

import {toFile} from "./drawing.js";
import {copy, save, saveText, toPng} from "./files.js";
import {showStatus} from "./showing.js";
import {get, remember, shownSentence, shownTree, state} from "./state.js";

export const VIEWS = ["tree", "brackets", "json"];

export function chooseView(view) {
  state.view = view;
  for (const each of VIEWS) {
    const tab = get(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === view));
    tab.tabIndex = each === view ? 0 : -1;
    get(`view-${each}`).hidden = each !== view;
  }
  get("details").hidden = view !== "tree";
}

export function moveInTabs(event) {
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!step) return;
  const next = VIEWS[(VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length];
  chooseView(next);
  get(`tab-${next}`).focus();
}

const fileName = (ending) => `tree-${state.sentence + 1}.${ending}`;
const drawnFile = () => toFile(state.drawing.svg, shownSentence().text);

export async function copyShown() {
  const tree = shownTree();
  if (!tree) return;
  await copy(state.view === "json" ? get("json").textContent : state.functions ? tree.text : tree.plain);
  announce(state.view === "json" ? "JSON copied" : "Brackets copied");
}

export function saveSvg() {
  if (state.drawing) saveText(fileName("svg"), drawnFile(), "image/svg+xml");
}

export async function savePng() {
  if (!state.drawing) return;
  const {width, height} = state.drawing.svg.viewBox.baseVal;
  save(fileName("png"), await toPng(drawnFile(), width, height));
}

export async function copyLink() {
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
