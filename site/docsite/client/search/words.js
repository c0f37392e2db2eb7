// @ts-check
// Words as they are written: to complete, and to mend.

import { withoutAccents } from "./analyze.js";
import { named, wordsOf } from "./bytes.js";
import { WORDS } from "./format.js";

/** @typedef {{words: string[], common: Uint8Array}} Words */

export const LEAST_SPELT = 4;

/**
 * @param {Uint8Array[]} columns
 * @returns {Words}
 */
export function readWords(columns) {
  const own = named(columns, WORDS);
  return { words: wordsOf(own.word_shared, own.word_size, own.word_rest), common: own.commonness };
}

/**
 * How many edits a word may differ by: none below 3 characters, one up to 5, else two.
 * @param {string} word
 */
function edits(word) {
  return word.length < 3 ? 0 : word.length < 6 ? 1 : 2;
}

/**
 * The edits between two words (a character more, less or other, or two neighbours swapped), or more than
 * `most`.
 * @param {string} a
 * @param {string} b
 * @param {number} most
 */
function distance(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before = new Uint8Array(0);
  let last = Uint8Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = new Uint8Array(b.length + 1);
    let least = (row[0] = i);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], before[j - 2] + 1);
      least = Math.min(least, row[j]);
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return last[b.length];
}

/**
 * The nearest words: the fewest edits first, then the commonest.
 * @param {Words[]} files
 * @param {string} word
 * @param {number} limit
 * @returns {string[]}
 */
export function nearestWords(files, word, limit) {
  const most = edits(word);
  /** @type {{word: string, edits: number, common: number}[]} */
  const found = [];
  for (const { words, common } of files) {
    words.forEach((other, i) => {
      const apart = most ? distance(word, other, most) : 1;
      if (apart > 0 && apart <= most) found.push({ word: other, edits: apart, common: common[i] });
    });
  }
  found.sort((a, b) => a.edits - b.edits || b.common - a.common || (a.word < b.word ? -1 : 1));
  return found.slice(0, limit).map((each) => each.word);
}

/**
 * The commonest words that begin so.
 * @param {Words} file
 * @param {string} prefix
 * @param {number} limit
 * @returns {string[]}
 */
export function completions({ words, common }, prefix, limit) {
  const places = Array.from(words.keys()).filter((i) => withoutAccents(words[i]).startsWith(prefix));
  places.sort((a, b) => common[b] - common[a] || words[a].length - words[b].length || a - b);
  return places.slice(0, limit).map((i) => words[i]);
}
