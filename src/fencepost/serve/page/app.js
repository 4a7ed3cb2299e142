// Starts the page: reads its link, asks for the models, and listens.

import {chooseTree, moveInSentences} from "./choosing.js";
import {examplesOf, readingOf} from "./examples.js";
import {prepareSearch, searchSoon, stepMatch} from "./finding.js";
import {setLabels} from "./labels.js";
import {readLink} from "./link.js";
import {parseNow, parseSoon, sentenceAtCaret} from "./parsing.js";
import {getJson, setToken} from "./server.js";
import {showProblem, showTree} from "./showing.js";
import {chosenModel, get, remember, state} from "./state.js";
import {VIEWS, chooseView, copyLink, copyShown, moveInTabs, savePng, saveSvg} from "./views.js";

const THEMES = ["auto", "light", "dark"];

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
  const link = readLink();
  get("text").value = link.text ?? "";
  get("pattern").value = link.pattern ?? "";
  showFunctions(link.functions);
  setReading(["line", "tokens"].includes(link.reading) ? link.reading : "text");
  try {
    const [{models}, labels] = await Promise.all([getJson("/v1/models"), getJson("/v1/labels")]);
    state.models = models;
    state.model = models.some((model) => model.name === link.model) ? link.model : null;
    setLabels(labels);
  } catch (error) {
    showProblem(error);
    return;
  }
  showModels();
  if (link.text === null && !get("text").value) { // the user may have typed something meanwhile
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
  get("save-svg").addEventListener("click", saveSvg);
  get("save-png").addEventListener("click", savePng);
  get("link").addEventListener("click", copyLink);
  get("theme").addEventListener("click", nextTheme);
  get("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(get("token").value);
    showProblem(null);
    start();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the fragment of the address holds the text
    get("tree-panel").focus();
  });
  addEventListener("hashchange", () => readLink().text !== null && start());
  get("pattern").addEventListener("focus", prepareSearch, {once: true});
  get("pattern").addEventListener("input", searchSoon);
  get("search-part").addEventListener("submit", (event) => {
    event.preventDefault();
    stepMatch(1);
  });
  get("next-match").addEventListener("click", () => stepMatch(1));
  get("previous-match").addEventListener("click", () => stepMatch(-1));
}

showTheme(localStorage.getItem("fencepost-theme") ?? "auto");
listen();
start();
