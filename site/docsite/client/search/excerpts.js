// @ts-check
// What a hit shows: its title and address, and the part of each section that says best why it was found.

import { TOKENS_AS_WRITTEN, expanded, folded, tokensOf } from "./analyze.js";
import { named, valueOf } from "./bytes.js";
import { BREADCRUMB_SEPARATOR, EXCERPTS } from "./format.js";
/** @import { Stemmer } from "./analyze.js" */

/**
 * A page, or a piece of a long one from the passage `ordinal` on. `sections` are `[title, slug, above]`,
 * `passages` are `[section, text]`.
 * @typedef {{title: string, page: string, crumbs: string[], modified: string, ordinal: number,
 *   sections: [string, string | number, string][], passages: [number, string][]}} Shown
 *
 * @typedef {{url: string, title: string, breadcrumb: string[], excerpt: string, marks: [number, number][],
 *   code?: boolean}} Section
 */

const EXCERPT_CHARS = 280;
const MOST_LOOKED_AT = 2_000;

/**
 * @param {Uint8Array[]} columns
 * @param {number} ordinal the first passage here
 * @returns {Shown[]}
 */
export function readExcerpts(columns, ordinal) {
  return valueOf(named(columns, EXCERPTS).documents).map((/** @type {any[] | null} */ document) => {
    const [title, page, crumbs, modified, sections, passages] = document || ["", "", [], "", [], []];
    return { title, page, crumbs, modified, ordinal, sections, passages };
  });
}

/**
 * The name of a heading where the page does not say another.
 * @param {string} title
 */
function slugOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .trim()
    .replace(/ /g, "-");
}

// Ends of statements, calls, assignments, comments, prompts and beginnings that no sentence has.
const CODE_LINE = [
  /[;{}>]\s*$/,
  /^\s*(?:@\w|\/\/|#(?:include|!|\[)|\$ \w|import [\w{*"']|def \w+\(|const \w+ ?=|fn \w+)/,
  /[\w\])]\([^)]*\):?\s*$/,
  /\s(?:=>|:=|==|->|=)\s/,
];

/**
 * Whether most lines of a text look like code, which it no longer says of itself.
 * @param {string} text
 */
function isCode(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.filter((line) => CODE_LINE.some((sign) => sign.test(line))).length * 2 > lines.length;
}

/**
 * Where in a text, as written, a token stands for one of the wanted terms.
 * @param {string} text
 * @param {Set<string>} wanted
 * @param {(Stemmer | null)[]} stemmers
 * @returns {[number, number][]}
 */
function matchesIn(text, wanted, stemmers) {
  /** @type {[number, number][]} */
  const found = [];
  for (const match of text.matchAll(TOKENS_AS_WRITTEN)) {
    const token = folded(match[0]);
    if (
      wanted.has(token) ||
      stemmers.some((stemmer) => expanded(token, stemmer).some((term) => wanted.has(term)))
    ) {
      found.push([match.index, match.index + match[0].length]);
    }
  }
  return found;
}

/**
 * A text without the marks of lists, and with another one between the cells of a table: its neighbouring
 * lines have as many.
 * @param {string} text
 */
function withoutMarkup(text) {
  const lines = text.replace(/^[ \t]*(?:[-*+•] |\d{1,3}[.)] )/gm, "").split("\n");
  const cells = lines.map((line) => (/[;{}]/.test(line) ? 1 : line.split(" | ").length));
  return lines
    .map((line, i) => {
      const isRow = cells[i] > 1 && (cells[i] === cells[i - 1] || cells[i] === cells[i + 1]);
      return isRow ? line.replaceAll(" | ", " · ") : line;
    })
    .join("\n");
}

/**
 * The window of a text with the most distinct matches, the earliest on a tie.
 * @param {string} given
 * @param {Set<string>} wanted
 * @param {(Stemmer | null)[]} stemmers
 * @returns {{excerpt: string, marks: [number, number][]}}
 */
function excerptOf(given, wanted, stemmers) {
  const text = withoutMarkup(given);
  const spans = matchesIn(text, wanted, stemmers);
  const start = bestStart(text, spans);
  const end = wordEnd(text, start);
  const prefix = start > 0 ? "… " : "";
  const shift = prefix.length - start;
  const marks = spans.filter(([from, to]) => from >= start && to <= end);
  return {
    excerpt: prefix + text.slice(start, end) + (end < text.length ? " …" : ""),
    marks: marks.map(([from, to]) => [from + shift, to + shift]),
  };
}

/**
 * @param {string} text
 * @param {[number, number][]} spans
 */
function bestStart(text, spans) {
  if (text.length <= EXCERPT_CHARS) return 0;
  let best = { start: 0, distinct: 0 };
  for (const start of [0, ...spans.map(([from]) => wordStart(text, from - EXCERPT_CHARS / 5))]) {
    const inside = spans.filter(([from, to]) => from >= start && to <= start + EXCERPT_CHARS);
    const distinct = new Set(inside.map(([from, to]) => text.slice(from, to).toLowerCase())).size;
    if (distinct > best.distinct || (distinct === best.distinct && start < best.start))
      best = { start, distinct };
  }
  return best.start;
}

/**
 * The first character of the word after the first white space from a place on.
 * @param {string} text
 * @param {number} at
 */
function wordStart(text, at) {
  if (at <= 0) return 0;
  const space = text.slice(at, at + 40).search(/\s/);
  return space < 0 ? at : at + space + 1;
}

/**
 * @param {string} text
 * @param {number} start
 */
function wordEnd(text, start) {
  const end = start + EXCERPT_CHARS;
  if (end >= text.length) return text.length;
  const window = text.slice(start, end);
  const space = Math.max(window.lastIndexOf(" "), window.lastIndexOf("\n"));
  return space > EXCERPT_CHARS / 2 ? start + space : end;
}

/**
 * Whether the words of a phrase stand one after the other in a text, whatever their endings.
 * @param {string} text
 * @param {string} phrase
 * @param {Stemmer | null} stemmer
 */
export function holdsPhrase(text, phrase, stemmer) {
  const sequence = (/** @type {string} */ each) => tokensOf(each).map((token) => expanded(token, stemmer)[0]);
  const wanted = sequence(phrase);
  const words = sequence(text);
  return wanted.length > 0 && words.some((_, at) => wanted.every((word, i) => words[at + i] === word));
}

/**
 * The address of a page of the site, or of a heading on it.
 * @param {string} base the absolute address of the index's folder
 * @param {string} page
 * @param {string} slug
 */
export function addressOf(base, page, slug) {
  const isFolder = document.documentElement.dataset.folders !== undefined && !base.startsWith("file:");
  const shown = isFolder ? page.replace(/(^|\/)index\.html$/, "$1") : page;
  const path = shown.split("/").map(encodeURIComponent).join("/");
  return new URL(`../${path}${slug ? `#${encodeURIComponent(slug)}` : ""}`, base).href;
}

/**
 * @param {Shown} shown
 * @param {number} number
 * @param {string} text
 * @param {{base: string, wanted: Set<string>, stemmers: (Stemmer | null)[]}} how
 * @returns {Section}
 */
export function sectionOf(shown, number, text, { base, wanted, stemmers }) {
  const [title, given, above] = shown.sections[number] || ["", "", ""];
  const slug = given === 0 ? slugOf(title) : String(given);
  return {
    url: addressOf(base, shown.page, slug),
    title: title || shown.title,
    breadcrumb: [...shown.crumbs, shown.title, ...(above ? above.split(BREADCRUMB_SEPARATOR) : [])],
    ...excerptOf(text, wanted, stemmers),
    ...(isCode(text.slice(0, MOST_LOOKED_AT)) ? { code: true } : {}),
  };
}
