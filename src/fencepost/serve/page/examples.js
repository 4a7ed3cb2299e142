// Texts to try, by language. Those of the model's language are offered.

const EXAMPLES = {
  en: [
    ["Attachment", "I saw the man with the telescope."],
    ["Garden path", "The horse raced past the barn fell."],
    ["Coordination", "The old men and women left the room, and nobody noticed."],
    ["Question", "What did she say when you told her that it works?"],
    ["Quotation", "“Nobody,” she said (and she meant it), “can parse this!”"],
    ["Long sentence", "The committee, which had met every week since the spring to decide what should be done about the bridge over the river, announced on Friday that it would be closed until the engineers who had inspected it were sure that it was safe."],
    ["A short text", "Time flies like an arrow. Fruit flies like a banana.\n\nDid you see her duck? We saw it with our own eyes, but she didn't."],
  ],
  de: [["Ein Satz", "Der Mann , der gestern kam , hat das Buch gelesen ."]],
  fr: [["Une phrase", "Le chat que j' ai vu dort dans le jardin ."]],
  he: [["משפט", "הילד הקטן קרא את הספר בגן ."]],
  ar: [["جملة", "قرأ الولد الصغير الكتاب في الحديقة ."]],
  zh: [["一个句子", "我们 昨天 在 公园 里 看见 了 你 的 朋友 。"]],
};

export const examplesOf = (language) => EXAMPLES[language] ?? EXAMPLES.en;
// The tokenizer knows English; other examples have blanks between their words.
export const readingOf = (language) => (language === "en" || !EXAMPLES[language] ? "text" : "tokens");
