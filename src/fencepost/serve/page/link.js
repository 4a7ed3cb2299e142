// The state of the page in the fragment of its address, so that a link brings it back. Nothing of it is sent to a server.

const LONGEST = 4000; // characters of a text in a link

export function readLink() {
  const fields = new URLSearchParams(location.hash.slice(1));
  return {
    text: fields.get("text"),
    reading: fields.get("reading"),
    model: fields.get("model"),
    pattern: fields.get("pattern"),
    functions: fields.get("functions") !== "hidden",
    sentence: Number(fields.get("sentence") ?? 1) - 1 || 0,
    rank: Number(fields.get("tree") ?? 1) - 1 || 0,
  };
}

// False if the text is too long for a link.
export function writeLink({text, reading, model, pattern, functions, sentence, rank}) {
  const fits = text.length <= LONGEST;
  const fields = new URLSearchParams(fits && text ? {text} : {});
  if (fits && text) {
    if (reading !== "text") fields.set("reading", reading);
    if (model) fields.set("model", model);
    if (pattern) fields.set("pattern", pattern);
    if (!functions) fields.set("functions", "hidden");
    if (sentence) fields.set("sentence", sentence + 1);
    if (rank) fields.set("tree", rank + 1);
  }
  history.replaceState(null, "", fields.size ? `#${fields}` : location.pathname);
  return fits;
}
