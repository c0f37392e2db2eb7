// @ts-check
// From text to terms, as the index was made: tokens are cut, then each is expanded to the terms that it
// stands for.

import { stemEnglish } from "./stem.js";

const CJK =
  "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uac00-\\ud7af\\u{20000}-\\u{2fa1f}";
// Marks that may be left out in writing: accents, Hebrew points, Arabic vowels.
const LOOSE_MARKS =
  "\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7" +
  "\\u0610-\\u061a\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06ea-\\u06ed";
// Marks that are part of the word: vowel signs of India and South-East Asia.
const FIRM_MARKS =
  "\\u0900-\\u0963\\u0966-\\u0dff\\u0e31\\u0e34-\\u0e3a\\u0e47-\\u0e4e\\u0eb1\\u0eb4-\\u0ebc\\u0ec8-\\u0ecd" +
  "\\u102b-\\u103e\\u17b4-\\u17d3";
const LETTER = "\\p{L}\\p{N}";
const IN_WORD = `[${LETTER}_${LOOSE_MARKS}${FIRM_MARKS}]`;
const IN_PART = `[${LETTER}${LOOSE_MARKS}${FIRM_MARKS}]`;
const TOKEN = `[a-z](?:\\+\\+|#)(?![${LETTER}_])|${IN_WORD}+(?:[.'’]${IN_WORD}+)*`;
const TOKENS = new RegExp(TOKEN, "gu");
export const TOKENS_AS_WRITTEN = new RegExp(TOKEN, "giu");
const PARTS_OF_TOKEN = new RegExp(`${IN_PART}+(?:['’]${IN_PART}+)*`, "gu");
const CJK_RUN = new RegExp(`[${CJK}]+`, "gu");
const HAS_CJK = new RegExp(`[${CJK}]`, "u");
const LOOSE_MARK = new RegExp(`[${LOOSE_MARKS}]`, "gu");
const MOST_CHARS = 64;
// One word alone may be part of a name: "for loop", "if else".
const LEAST_LEFT = 2;

/** @typedef {(word: string) => string} Stemmer */

/**
 * Text in lower case, with compatibility forms unified.
 * @param {string} text
 * @returns {string}
 */
export function folded(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  // Unicode's case folding, which JavaScript lacks: lower case, but for these.
  return text
    .replace(/\u1e9e/g, "ss")
    .replace(/[\u1c80-\u1c88\u1f80-\u1ffc]/g, (letter) => letter.toUpperCase())
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(/ς/g, "σ")
    .replace(/\u0345/g, "ι")
    .replace(/[\u13f8-\u13fd\uab70-\uabbf]/g, (letter) => letter.toUpperCase())
    .normalize("NFKC");
}

/**
 * A folded word without the marks that people leave out when they type.
 * @param {string} word
 * @returns {string}
 */
export function withoutAccents(word) {
  if (/^[\x00-\x7f]*$/.test(word)) return word;
  return word.normalize("NFD").replace(LOOSE_MARK, "").normalize("NFC");
}

/**
 * @param {string} text
 * @returns {string[]}
 */
export function tokensOf(text) {
  return folded(text).match(TOKENS) || [];
}

/**
 * A query without its stop words, or as it is if less than two words were left, of a question less than one;
 * what is not written as a word, such as `:has()`, is none. A question begins with one of its words and
 * another, or a stop word, after it.
 * @param {string} text
 * @param {Set<string>} stopWords
 * @param {Set<string>} questionWords
 * @returns {string}
 */
export function withoutStopWords(text, stopWords, questionWords) {
  const bare = (/** @type {string} */ word) =>
    withoutAccents(folded(word.replace(/[,;:.?!]+$/, "")).replace(/’/g, "'"));
  const isIn = (/** @type {Set<string>} */ words, /** @type {string} */ word) =>
    /^\p{L}+(?:['’]\p{L}+)?[,;:.?!]*$/u.test(word) && words.has(bare(word));
  const words = text.split(/\s+/).filter(Boolean);
  const both = new Set([...stopWords, ...questionWords]);
  const asks = words.length > 1 && isIn(questionWords, words[0]) && isIn(both, words[1]);
  const kept = words.filter((word) => !isIn(asks ? both : stopWords, word));
  return new Set(kept.map(bare)).size >= (asks ? 1 : LEAST_LEFT) ? kept.join(" ") : text;
}

/**
 * The parts of names in code that are among these tokens: square and tiles of SquareTiles.
 * @param {string} text
 * @param {string[]} tokens
 * @returns {string[]}
 */
export function partsOfNames(text, tokens) {
  const names = (text.match(/[\p{L}\p{N}_$]+/gu) || []).filter((name) => tokens.includes(folded(name)));
  return names
    .filter((name) => /[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(name))
    .flatMap((name) => name.match(/[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+/g) || []);
}

/**
 * The first characters of a word, never half of one.
 * @param {string} word
 * @returns {string}
 */
function shortened(word) {
  return word.length <= MOST_CHARS ? word : Array.from(word).slice(0, MOST_CHARS).join("");
}

/**
 * @param {string} word
 * @param {Stemmer | null} stemmer
 * @returns {string}
 */
function stemmed(word, stemmer) {
  const plain = word.replace(/’/g, "'");
  return shortened(withoutAccents(stemmer && !/\p{Nd}/u.test(plain) ? stemmer(plain) : plain));
}

/**
 * The terms that a folded token stands for, the whole token first.
 * @param {string} token
 * @param {Stemmer | null} stemmer
 * @returns {string[]}
 */
export function expanded(token, stemmer) {
  // An accent that stands alone is a token, and nothing once accents are gone.
  return termsOf(token, stemmer).filter(Boolean);
}

/**
 * @param {string} token
 * @param {Stemmer | null} stemmer
 * @returns {string[]}
 */
function termsOf(token, stemmer) {
  if (HAS_CJK.test(token)) return mixed(token, stemmer);
  if (/[+#]$/.test(token)) return [token];
  const parts = (token.match(PARTS_OF_TOKEN) || []).map((part) => stemmed(part, stemmer));
  if (parts.length <= 1) return parts;
  return [...new Set([shortened(withoutAccents(token.replace(/^_+|_+$/g, ""))), ...parts])];
}

/**
 * @param {string} token
 * @param {Stemmer | null} stemmer
 * @returns {string[]}
 */
function mixed(token, stemmer) {
  /** @type {string[]} */
  const found = [];
  const words = (/** @type {string} */ text) => {
    for (const part of text.match(PARTS_OF_TOKEN) || []) found.push(stemmed(part, stemmer));
  };
  let at = 0;
  for (const run of token.matchAll(CJK_RUN)) {
    words(token.slice(at, run.index));
    const characters = Array.from(run[0]);
    if (characters.length === 1) found.push(run[0]);
    for (let i = 0; i + 1 < characters.length; i++) found.push(characters[i] + characters[i + 1]);
    at = run.index + run[0].length;
  }
  words(token.slice(at));
  return found;
}

/**
 * The stemmers for an index of these languages: one that stems English where there is English, one that does
 * not where there are others, whose words the index itself leads to their terms.
 * @param {string[]} languages
 * @returns {(Stemmer | null)[]}
 */
export function stemmersFor(languages) {
  const english = languages.filter((language) => /^en(?![a-z])/i.test(language));
  /** @type {(Stemmer | null)[]} */
  const found = english.length ? [stemEnglish] : [];
  return english.length < languages.length ? [...found, null] : found;
}
