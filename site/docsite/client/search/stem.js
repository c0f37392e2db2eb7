// @ts-check
// The Snowball stemmer of English (Porter 2, as of Snowball 3.1): the same stems as the index has.

const SHORT = /[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$|past$/;
const FIRST_REGION =
  /^(?:arsen|commun|emerg|gener|inter|later|organ|past|univers|[^aeiouy]*[aeiouy]+[^aeiouy])/;
const SECOND_REGION = /^[^aeiouy]*[aeiouy]+[^aeiouy]/;
const UNCHANGED = new Set(["andes", "atlas", "bias", "cosmos", "howe", "news", "sky"]);
/** @type {Record<string, string>} */
const SPECIAL = {
  gently: "gentl",
  idly: "idl",
  singly: "singl",
  early: "earli",
  only: "onli",
  ugly: "ugli",
  skis: "ski",
  skies: "sky",
};
/** @type {Record<string, string>} */
const STEP_2 = {
  tional: "tion",
  enci: "ence",
  anci: "ance",
  abli: "able",
  entli: "ent",
  fulli: "ful",
  lessli: "less",
  ousli: "ous",
  izer: "ize",
  ization: "ize",
  ational: "ate",
  ation: "ate",
  ator: "ate",
  alism: "al",
  aliti: "al",
  alli: "al",
  fulness: "ful",
  ousness: "ous",
  iveness: "ive",
  iviti: "ive",
  biliti: "ble",
  bli: "ble",
  ogist: "og",
  ogi: "og",
  li: "",
};
/** @type {Record<string, string>} */
const STEP_3 = {
  tional: "tion",
  ational: "ate",
  alize: "al",
  icate: "ic",
  iciti: "ic",
  ical: "ic",
  ative: "",
  ness: "",
  ful: "",
};
const SUFFIX_2 = new RegExp(
  "(?:ational|ization|fulness|iveness|ousness|tional|biliti|lessli|alism|aliti|ation|entli|fulli|iviti|" +
    "ogist|ousli|abli|alli|anci|ator|enci|izer|bli|ogi|li)$",
);
const SUFFIX_3 = /(?:ational|tional|alize|ative|icate|iciti|ical|ness|ful)$/;
const SUFFIX_4 = /(?:ement|able|ance|ence|ible|ment|ant|ate|ent|ion|ism|iti|ive|ize|ous|al|er|ic)$/;

/**
 * The stem of a word in lower case.
 * @param {string} word
 * @returns {string}
 */
export function stemEnglish(word) {
  if (word.length < 3 || UNCHANGED.has(word)) return word;
  if (Object.hasOwn(SPECIAL, word)) return SPECIAL[word];
  let w = word
    .replace(/^'/, "")
    .replace(/^y/, "Y")
    .replace(/([aeiouy])y/g, "$1Y");
  const first = (FIRST_REGION.exec(w) || [""])[0].length;
  const more = first ? (SECOND_REGION.exec(w.slice(first)) || [""])[0].length : 0;
  const p1 = first || w.length;
  const p2 = more ? first + more : w.length;
  w = plural(w.replace(/(?:'s'|'s|')$/, ""));
  w = participle(w, p1);
  w = w.replace(/(.[^aeiouy])[yY]$/, "$1i");
  w = derived(w, p1);
  w = adjective(w, p1, p2);
  const suffix = (SUFFIX_4.exec(w) || [""])[0];
  const stem = w.slice(0, w.length - suffix.length);
  if (suffix && stem.length >= p2 && (suffix !== "ion" || /[st]$/.test(stem))) w = stem;
  return last(w, p1, p2).replace(/Y/g, "y");
}

/** @param {string} w */
function plural(w) {
  if (w.endsWith("sses")) return w.slice(0, -2);
  if (/ie[ds]$/.test(w)) return w.slice(0, w.length > 4 ? -2 : -1);
  if (/[us]s$/.test(w)) return w;
  return /[aeiouy].+s$/.test(w) ? w.slice(0, -1) : w;
}

/**
 * @param {string} w
 * @param {number} p1
 */
function participle(w, p1) {
  const suffix = (/(?:eedly|ingly|edly|eed|ing|ed)$/.exec(w) || [""])[0];
  const stem = w.slice(0, w.length - suffix.length);
  if (!suffix) return w;
  if (suffix.startsWith("eed")) {
    return stem.length >= p1 && !["succ", "proc", "exc"].includes(stem) ? stem + "ee" : w;
  }
  if (suffix === "ing" && /^[^aeiouy]y$/.test(stem)) return stem.slice(0, -1) + "ie";
  if (suffix === "ing" && ["even", "cann", "inn", "earr", "herr", "out"].includes(stem)) return w;
  if (!/[aeiouy]/.test(stem)) return w;
  if (/(?:at|bl|iz)$/.test(stem)) return stem + "e";
  if (/^[aeo](?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return stem;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return stem.slice(0, -1);
  return stem.length === p1 && SHORT.test(stem) ? stem + "e" : stem;
}

/**
 * @param {string} w
 * @param {number} p1
 */
function derived(w, p1) {
  const suffix = (SUFFIX_2.exec(w) || [""])[0];
  const stem = w.slice(0, w.length - suffix.length);
  if (!suffix || stem.length < p1) return w;
  if (suffix === "ogi" && !stem.endsWith("l")) return w;
  if (suffix === "li" && !/[cdeghkmnrt]$/.test(stem)) return w;
  return stem + STEP_2[suffix];
}

/**
 * @param {string} w
 * @param {number} p1
 * @param {number} p2
 */
function adjective(w, p1, p2) {
  const suffix = (SUFFIX_3.exec(w) || [""])[0];
  const stem = w.slice(0, w.length - suffix.length);
  if (!suffix || stem.length < p1 || (suffix === "ative" && stem.length < p2)) return w;
  return stem + STEP_3[suffix];
}

/**
 * @param {string} w
 * @param {number} p1
 * @param {number} p2
 */
function last(w, p1, p2) {
  const stem = w.slice(0, -1);
  if (w.endsWith("e")) return w.length > p2 || (w.length > p1 && !SHORT.test(stem)) ? stem : w;
  return w.endsWith("ll") && w.length > p2 ? stem : w;
}
