// @ts-check
// Ranked documents as a reader sees them, some at a time: what nobody scrolls to is not loaded.

import { addressOf, sectionOf } from "./excerpts.js";
/** @import { Stemmer } from "./analyze.js" */
/** @import { Section, Shown } from "./excerpts.js" */
/** @import { Passage, Ranked } from "./rank.js" */
/** @import { Read } from "./reader.js" */
/** @import { Store } from "./store.js" */

/**
 * @typedef {{url: string, title: string, breadcrumb: string[], score: number, modified?: string,
 *   why: {keyword: number, semantic: number, links: number, support: number, boost: number, terms: string[]},
 *   sections: Section[]}} Hit
 *
 * @typedef {{base: string, wanted: Set<string>, stemmers: (Stemmer | null)[]}} How
 */

const SECTIONS = 3;

export class Listing {
  /**
   * @param {Store} store
   * @param {Ranked[]} ranked best first
   * @param {Read[]} reads the words of the query: those that count are marked
   */
  constructor(store, ranked, reads) {
    const counted = reads.filter(({ weight }) => weight);
    this.store = store;
    this.ranked = ranked;
    this.at = 0;
    /** @type {Set<string>} */
    this.seen = new Set();
    this.words = counted.filter(({ terms }) => terms.length).map(({ token }) => token);
    /** @type {How} */
    this.how = {
      base: store.parts.base,
      wanted: new Set(counted.flatMap(({ token, terms }) => [token, ...terms.map(({ term }) => term)])),
      stemmers: store.manifest.stemmers,
    };
  }

  /**
   * The next hits, none of which repeats an earlier one; fewer than asked for at the end.
   * @param {number} count
   * @param {AbortSignal} [signal]
   * @returns {Promise<Hit[]>}
   */
  async next(count, signal) {
    /** @type {Hit[]} */
    const hits = [];
    while (hits.length < count && this.at < this.ranked.length) {
      signal?.throwIfAborted();
      const some = this.ranked.slice(this.at, this.at + count - hits.length);
      const shown = await Promise.all(
        some.map(({ document, passages }) => this.store.shown(document, passages[0].ordinal)),
      );
      this.at += some.length;
      some.forEach((each, i) => {
        const key = keyOf(each, shown[i]);
        if (!this.seen.has(key)) hits.push(hitOf(each, shown[i], this.words, this.how));
        this.seen.add(key);
      });
    }
    return hits;
  }
}

/**
 * What two hits share of which one repeats the other.
 * @param {Ranked} ranked
 * @param {Shown} shown
 */
export function keyOf({ passages }, shown) {
  return `${shown.title}\n${passageOf(shown, passages[0])?.[1]}`;
}

/**
 * A passage of a page, or nothing where another piece of the page has it.
 * @param {Shown} shown
 * @param {Passage} passage
 * @returns {[number, string] | undefined}
 */
function passageOf(shown, { ordinal }) {
  return shown.passages[Math.max(0, ordinal) - shown.ordinal];
}

/**
 * @param {Ranked} ranked
 * @param {Shown} shown
 * @param {string[]} terms
 * @param {How} how
 * @returns {Hit}
 */
function hitOf(ranked, shown, terms, how) {
  const { score, links, support, boost, passages } = ranked;
  /** @type {Map<number, string>} */
  const best = new Map();
  for (const passage of passages) {
    const [section, text] = passageOf(shown, passage) || [-1, ""];
    if (section >= 0 && best.size < SECTIONS && !best.has(section)) best.set(section, text);
  }
  const { keyword, semantic } = passages[0];
  return {
    url: addressOf(how.base, shown.page, ""),
    title: shown.title,
    breadcrumb: shown.crumbs,
    score,
    ...(shown.modified ? { modified: shown.modified } : {}),
    why: { keyword, semantic, links, support, boost, terms },
    sections: Array.from(best, ([section, text]) => sectionOf(shown, section, text, how)),
  };
}
