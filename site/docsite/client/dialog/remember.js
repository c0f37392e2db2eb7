// @ts-check
// What this browser remembers of searches: the last ones, and those without results. Nothing is sent
// anywhere.

import { reader } from "../reader/published.js";

const RECENT = "noctule-recent";
const ZERO = "noctule-zero";
const MOST_RECENT = 7;
const MOST_ZERO = 500;
const LONGEST = 200;

/** @param {string} key @returns {unknown[]} */
function read(key) {
  try {
    const kept = JSON.parse(window.localStorage.getItem(key) || "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** @param {string} key @param {unknown[]} list */
function write(key, list) {
  try {
    if (list.length) window.localStorage.setItem(key, JSON.stringify(list));
    else window.localStorage.removeItem(key);
  } catch {
    // Storage is forbidden or full: nothing is remembered.
  }
}

export const remember = {
  recent: () =>
    read(RECENT)
      .filter((query) => typeof query === "string")
      .map(String),

  /** @param {string} query */
  addRecent(query) {
    const kept = remember.recent().filter((other) => other !== query);
    write(RECENT, [query.slice(0, LONGEST), ...kept].slice(0, MOST_RECENT));
  },

  /**
   * A result that is opened: its query is a recent one, and its words are marked on the page.
   * @param {string} query
   * @param {Choice} choice
   */
  select(query, { link, rank, hit }) {
    remember.addRecent(query);
    const words = hit.why.terms || []; // without stop words
    try {
      const page = link.href.split("#")[0].split("?")[0];
      window.sessionStorage.setItem("noctule-words", JSON.stringify({ page, words }));
    } catch {
      // Then nothing is marked on the page.
    }
    reader.emit("noctule:select", { query, url: link.href, rank: rank + 1 });
  },

  clearRecent: () => write(RECENT, []),

  /** @returns {ZeroResult[]} latest first */
  zero: () =>
    read(ZERO)
      .map((each) => /** @type {Partial<ZeroResult>} */ (each || {}))
      .filter((each) => typeof each.query === "string")
      .map((each) => ({ query: String(each.query), count: Number(each.count) || 1 })),

  /** @param {string} query */
  addZero(query) {
    const kept = remember.zero();
    const count = (kept.find((each) => each.query === query)?.count || 0) + 1;
    const others = kept.filter((each) => each.query !== query);
    write(ZERO, [{ query: query.slice(0, LONGEST), count }, ...others].slice(0, MOST_ZERO));
  },

  clearZero: () => write(ZERO, []),
};
