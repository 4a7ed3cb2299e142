// Texts to try, by language. Those of the model's language are offered.

// No rules find the words of these: the examples have blanks between them.
const NEED_WORDS = {
  he: [["משפט", "הילד הקטן קרא את הספר בגן ."]],
  ar: [["جملة", "قرأ الولد الصغير الكتاب في الحديقة ."]],
  zh: [["一个句子", "我们 昨天 在 公园 里 看见 了 你 的 朋友 。"]],
};

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
  de: [["Ein Satz", "Der Mann, der gestern kam, hat das Buch gelesen."]],
  es: [["Una frase", "La niña que vive en la casa verde leyó el libro ayer."]],
  fo: [["Ein setningur", "Maðurin, sum kom í gjár, hevur lisið bókina."]],
  fr: [["Une phrase", "Le chat que j'ai vu dort dans le jardin."]],
  fro: [["Une phrase", "Li rois vint en la cité."]],
  id: [["Satu kalimat", "Anak kecil itu membaca buku di taman."]],
  is: [["Ein setning", "Maðurinn sem kom í gær hefur lesið bókina."]],
  ja: [["一つの文", "昨日、公園で友達を見ました。"]],
  nl: [["Een zin", "De man die gisteren kwam, heeft het boek gelezen."]],
  pt: [["Uma frase", "A menina que mora na casa verde leu o livro ontem."]],
  sv: [["En mening", "Mannen som kom i går har läst boken."]],
  ...NEED_WORDS,
};

// `is` of `is-historical`.
const base = (language) => (language ?? "en").split(/[-_]/)[0];

export const examplesOf = (language) => EXAMPLES[base(language)] ?? EXAMPLES.en;
export const readingOf = (language) => (base(language) in NEED_WORDS ? "tokens" : "text");
