// @ts-check
// What is being typed: what it will surely need is loaded, and ranked where that is all, before it is asked
// for.

import { expanded, folded, tokensOf, withoutAccents } from "./analyze.js";
import { takenApart } from "./query.js";
import { rank } from "./rank.js";
import { Tokens } from "./tokens.js";
/** @import { Gatherer } from "./gather.js" */
/** @import { Typed } from "./query.js" */
/** @import { Ranked } from "./rank.js" */
/** @import { Reader } from "./reader.js" */
/** @import { Store } from "./store.js" */

/**
 * The words of a query, and what the first tiers say of them.
 * @typedef {{tokens: Tokens, understood: Awaited<ReturnType<Reader["understood"]>>, ranked: Ranked[]}} Begun
 */

const LAST_WORDS = 4;

export class Typing {
  /**
   * @param {Store} store
   * @param {Reader} reader
   * @param {Gatherer} gatherer
   */
  constructor(store, reader, gatherer) {
    this.store = store;
    this.reader = reader;
    this.gatherer = gatherer;
    this.words = "";
    /** @type {Promise<Begun | null>} */
    this.begun = Promise.resolve(null);
  }

  /**
   * What was begun of a query, if that is what was typed last and nothing else had to be loaded.
   * @param {string} query
   */
  async begunFor(query) {
    return query === this.words ? this.begun : null;
  }

  /**
   * Loads the shards of words that are finished, and of one that is being typed as soon as a single shard has
   * all terms that begin so. What fails now is tried again by the search.
   * @param {string} words
   */
  begin(words) {
    const typed = takenApart(words);
    const { plain, partial } = typed;
    const finished = partial && plain.endsWith(partial) ? plain.slice(0, -partial.length) : plain;
    const loading = this.termsOf(tokensOf(finished).slice(-LAST_WORDS), 1).map((term) =>
      this.store.shards(term),
    );
    const near = partial ? this.store.begin(withoutAccents(folded(partial))) : Promise.resolve(true);
    this.words = words;
    this.begun = Promise.all([near, ...loading])
      .then(([isNear]) => (isNear && this.holdsLast(plain) ? this.rankedOf(typed) : null))
      .catch(() => null);
  }

  /**
   * Whether all that the last word of a text may stand for would be in shards that were read.
   * @param {string} plain
   */
  holdsLast(plain) {
    return this.termsOf(tokensOf(plain).slice(-1)).every((term) => this.store.hasRead(term));
  }

  /**
   * The first terms, or all, that tokens may stand for.
   * @param {string[]} tokens
   * @param {number} [most]
   */
  termsOf(tokens, most) {
    return this.store.manifest.stemmers.flatMap((stemmer) =>
      tokens.flatMap((token) => expanded(token, stemmer).slice(0, most)),
    );
  }

  /**
   * @param {Typed} typed
   * @returns {Promise<Begun>}
   */
  async rankedOf(typed) {
    const tokens = new Tokens(this.store);
    // A word that nothing begins with waits for a rest.
    const understood = await this.reader.understood(typed, tokens, () => Promise.reject());
    const { ranked } = rank(this.gatherer.beginning(understood.reads), this.store.manifest);
    return { tokens, understood, ranked };
  }
}
