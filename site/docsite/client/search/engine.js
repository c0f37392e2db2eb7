// @ts-check
// The engine: which files a query needs, in which order, and what the answer says.

import { boosted } from "./boosts.js";
import { holdsPhrase } from "./excerpts.js";
import { Gatherer } from "./gather.js";
import { Listing, keyOf } from "./listing.js";
import { Manifest } from "./manifest.js";
import { Parts, searchError } from "./parts.js";
import { takenApart } from "./query.js";
import { rank } from "./rank.js";
import { Reader } from "./reader.js";
import { Store } from "./store.js";
import { Tokens } from "./tokens.js";
import { Typing } from "./typing.js";
/** @import { Shown } from "./excerpts.js" */
/** @import { Count, Kind } from "./facets.js" */
/** @import { Hit } from "./listing.js" */
/** @import { Typed } from "./query.js" */
/** @import { Ranked } from "./rank.js" */
/** @import { Read } from "./reader.js" */

/**
 * `facets: false` leaves them out, until they are asked for. With `early` a person is typing: it is called
 * with the best hits of what came first, and what only finished words need waits for a rest.
 * @typedef {{limit?: number, filters?: Record<string, any>, signal?: AbortSignal, facets?: boolean,
 *   early?: (hits: Hit[]) => void,
 *   weights?: {keyword?: number, semantic?: number, links?: number, support?: number}}} SearchOptions
 *
 * @typedef {{hits: Hit[], total: number, facets: Partial<Record<Kind, Count[]>>,
 *   spelling: {from: string, to: string, offered: boolean}[], near: string[],
 *   took: {ms: number, bytes: number, requests: number}}} Answer
 */

// Pages are looked into for a phrase so many at a time, until enough hold it, and no more than so many.
const PHRASE_STEP = 12;
const PHRASE_DEPTH = 48;
const FEW_HITS = 3;
// So many hits are shown of what came first: they mostly stay.
const EARLY_HITS = 4;
const REST_MS = 250;

/**
 * An engine for the index in a folder; rejects with an error that has a `code`.
 * @param {{base: string}} where
 * @returns {Promise<Engine>}
 */
export async function open({ base }) {
  if (typeof DecompressionStream === "undefined") {
    throw searchError("missing", "This browser is too old for the search of this site.");
  }
  const parts = new Parts(new URL(base, document.baseURI).href);
  const manifest = new Manifest(await parts.load("manifest"));
  parts.build = manifest.build;
  return new Engine(parts, manifest);
}

class Engine {
  /**
   * @param {Parts} parts
   * @param {Manifest} manifest
   */
  constructor(parts, manifest) {
    this.parts = parts;
    this.manifest = manifest;
    this.store = new Store(parts, manifest);
    this.reader = new Reader(this.store);
    this.gatherer = new Gatherer(this.store, this.reader);
    /** @type {WeakMap<Answer, {matching: Int32Array, listing: Listing}>} */
    this.behind = new WeakMap();
    this.typing = new Typing(this.store, this.reader, this.gatherer);
  }

  /**
   * Words of the vocabulary that begin so, or, where there are none, that are spelt almost so.
   * @param {string} prefix
   * @returns {Promise<string[]>}
   */
  suggest(prefix) {
    return this.reader.suggest(prefix);
  }

  /**
   * Loads what a query will need, and ranks what came first, as far as that is sure while it is typed.
   * @param {string} words
   */
  warm(words) {
    this.typing.begin(words);
  }

  /** The tokens of the model, for one query. */
  tokens() {
    return new Tokens(this.store);
  }

  /**
   * The pages that answer a query best.
   * @param {string} query
   * @param {SearchOptions} [options]
   * @returns {Promise<Answer>}
   */
  async search(query, { limit = 10, filters = {}, weights = {}, facets = true, early, signal } = {}) {
    const before = { ms: performance.now(), bytes: this.parts.bytes, requests: this.parts.requests };
    const typed = takenApart(query);
    const counts = facets || this.manifest.ranking.boosts.length ? this.store.facets() : null;
    counts?.catch(() => undefined);
    const settled = early ? () => rest(REST_MS, signal) : undefined;
    const begun = early ? await this.typing.begunFor(query) : null;
    const tokens = begun ? begun.tokens : this.tokens();
    const { reads, spelling } = await (begun?.understood || this.reader.understood(typed, tokens, settled));
    signal?.throwIfAborted();
    const manifest = this.manifest.weighing(weights);
    const { question, shown } = await this.gathered(
      reads,
      typed,
      { filters, early, signal, first: begun?.ranked },
      manifest,
      tokens,
    );
    signal?.throwIfAborted();
    const { ranked: found, matching } = rank(question, manifest);
    const { boosts } = manifest.ranking;
    const ranked = counts && boosts.length ? boosted(found, boosts, await counts, new Date()) : found;
    const listing = await this.listing(ranked, reads, typed, limit, signal);
    const hits = await listing.next(limit, signal);
    shown.abort();
    signal?.throwIfAborted();
    /** @type {Answer} */
    const answer = {
      hits,
      total: hits.length < limit ? hits.length : Math.max(matching.length, hits.length),
      facets: facets && counts ? (await counts).counts(matching) : {},
      spelling,
      near: hits.length < FEW_HITS || spelling.length ? await this.reader.near(reads) : [],
      took: {
        ms: performance.now() - before.ms,
        bytes: this.parts.bytes - before.bytes,
        requests: this.parts.requests - before.requests,
      },
    };
    this.behind.set(answer, { matching, listing });
    return answer;
  }

  /**
   * What ranking needs; meanwhile the best hits by first tiers are shown, as far as these are on their way.
   * @param {Read[]} reads
   * @param {Typed} typed
   * @param {Pick<SearchOptions, "early" | "signal"> & {filters: Record<string, any>, first?: Ranked[]}}
   *   options
   * @param {Manifest} manifest
   * @param {Tokens} tokens
   */
  async gathered(reads, typed, { filters, early, signal, first }, manifest, tokens) {
    const shown = new AbortController();
    const plain = !typed.phrases.length && !typed.excluded.length && !Object.keys(filters).length;
    if (early && plain) {
      const ranked = first || rank(this.gatherer.beginning(reads), manifest).ranked;
      const hits = new Listing(this.store, ranked.slice(0, EARLY_HITS), reads).next(EARLY_HITS, signal);
      hits.then(
        (found) => !shown.signal.aborted && !signal?.aborted && found.length && early(found),
        () => undefined,
      );
    }
    if (early && reads.some(({ unfinished }) => unfinished)) await rest(REST_MS, signal);
    return { question: await this.gatherer.question(reads, typed, filters, tokens, signal), shown };
  }

  /**
   * The pages that filters leave, in reading order: a search without words.
   * @param {{limit?: number, filters?: Record<string, any>}} options
   * @returns {Promise<Answer>}
   */
  async browse({ limit = 10, filters = {} }) {
    const matching = (await this.store.facets()).pages(filters);
    const listing = new Listing(this.store, Array.from(matching, unranked), []);
    const hits = await listing.next(limit);
    const took = { ms: 0, bytes: 0, requests: 0 };
    /** @type {Answer} */
    const answer = { hits, total: matching.length, facets: {}, spelling: [], near: [], took };
    this.behind.set(answer, { matching, listing });
    return answer;
  }

  /**
   * More hits of an answer; fewer than asked for at the end.
   * @param {Answer} answer
   * @param {number} count
   * @returns {Promise<Hit[]>}
   */
  async more(answer, count) {
    return this.behind.get(answer)?.listing.next(count) || [];
  }

  /**
   * How many documents of an answer, or of all without one, each filter would leave.
   * @param {Answer | null} answer
   */
  async facets(answer) {
    const facets = await this.store.facets();
    return facets.counts(answer ? this.behind.get(answer)?.matching || new Int32Array(0) : facets.pages({}));
  }

  /**
   * The documents to show: all with the phrases, if any has them.
   * @param {Ranked[]} ranked
   * @param {Read[]} reads
   * @param {Typed} typed
   * @param {number} limit
   * @param {AbortSignal} [signal]
   */
  async listing(ranked, reads, { phrases }, limit, signal) {
    const kept = phrases.length ? await this.withPhrases(ranked, phrases, limit, signal) : ranked;
    return new Listing(this.store, kept, reads);
  }

  /**
   * Those of the best documents that hold all phrases, or all of them where none does.
   * @param {Ranked[]} ranked
   * @param {string[]} phrases
   * @param {number} limit
   * @param {AbortSignal} [signal]
   * @returns {Promise<Ranked[]>}
   */
  async withPhrases(ranked, phrases, limit, signal) {
    const holds = (/** @type {Shown} */ page, /** @type {string} */ phrase) =>
      [page.title, ...page.sections.map(([title]) => title), ...page.passages.map(([, text]) => text)].some(
        (text) => this.manifest.stemmers.some((stemmer) => holdsPhrase(text, phrase, stemmer)),
      );
    /** @type {Ranked[]} */
    const kept = [];
    const keys = new Set();
    for (let at = 0; at < Math.min(PHRASE_DEPTH, ranked.length) && keys.size < limit;) {
      signal?.throwIfAborted();
      const some = ranked.slice(at, (at += PHRASE_STEP));
      const shown = await Promise.all(
        some.map(({ document, passages }) => this.store.shown(document, passages[0].ordinal)),
      );
      some.forEach((each, i) => {
        if (!phrases.every((phrase) => holds(shown[i], phrase))) return;
        kept.push(each);
        keys.add(keyOf(each, shown[i]));
      });
    }
    return kept.length ? kept : ranked;
  }
}

/**
 * A document that nothing was asked of.
 * @param {number} document
 * @returns {Ranked}
 */
function unranked(document) {
  const passages = [{ ordinal: 0, score: 0, keyword: 0, semantic: 0, chance: 1 }];
  return { document, score: 0, links: 1, support: 1, boost: 1, passages };
}

/**
 * Resolves after a time without a key; rejects if there is one.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 */
async function rest(ms, signal) {
  await new Promise((resolve) => setTimeout(resolve, ms));
  signal?.throwIfAborted();
}
