// Talks to the server: one request at a time for the text, and the answers of older ones are dropped.

export class Failure extends Error {
  constructor(status, {error, hint}) {
    super(error ?? `the server answered ${status}`);
    this.status = status;
    this.hint = hint ?? "";
  }
}

const TOKEN = "fencepost-token";
export const setToken = (token) => sessionStorage.setItem(TOKEN, token);

async function ask(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token ? {Authorization: `Bearer ${token}`} : {};
  let answer;
  try {
    answer = await fetch(path, {...options, headers: {...headers, ...options.headers}});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, {error: "the server doesn't answer", hint: "is it still running?"});
  }
  if (!answer.ok) throw new Failure(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

export const getJson = async (path) => (await ask(path)).json();

const post = (path, body, signal) =>
  ask(path, {method: "POST", body: JSON.stringify(body), headers: {"Content-Type": "application/json"}, signal});

export const postJson = async (path, body, signal) => (await post(path, body, signal)).json();

let current = new AbortController();

// Calls `onSentences` with each few sentences as they come. Rejects with an AbortError if a newer request was made.
export async function parse(request, onSentences) {
  current.abort();
  current = new AbortController();
  const {signal} = current;
  const answer = await post("/v1/parse", {...request, stream: true}, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    const found = lines.filter(Boolean).map((line) => JSON.parse(line));
    const failure = found.find((line) => line.error && !line.tree);
    const sentences = found.filter((line) => line.tree);
    if (signal.aborted) throw new DOMException("stale", "AbortError");
    if (sentences.length) onSentences(sentences);
    if (failure) throw new Failure(422, failure);
  }
}

export const cancel = () => current.abort();
