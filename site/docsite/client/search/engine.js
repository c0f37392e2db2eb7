// @ts-check
// The engine: which files a query needs, in which order, and what the answer says.

import { expanded, tokensOf } from "./analyze.js";
import { boosted } from "./boosts.js";
import { addressOf, holdsPhrase, sectionOf } from "./excerpts.js";
import { Gatherer } from "./gather.js";
import { Manifest } from "./manifest.js";
import { Parts, searchError } from "./parts.js";
import { takenApart } from "./query.js";
import { rank } from "./rank.js";
import { Reader } from "./reader.js";
import { Store } from "./store.js";
import { Tokens } from "./tokens.js";
/** @import { Stemmer } from "./analyze.js" */
/** @import { Section, Shown } from "./excerpts.js" */
/** @import { Count, Kind } from "./facets.js" */
/** @import { Typed } from "./query.js" */
/** @import { Passage, Ranked } from "./rank.js" */
/** @import { Read } from "./reader.js" */

/**
 * @typedef {{limit?: number, filters?: Record<string, any>, signal?: AbortSignal,
 *   weights?: {keyword?: number, semantic?: number, links?: number, support?: number}}} SearchOptions
 *
 * @typedef {{url: string, title: string, breadcrumb: string[], score: number, modified?: string,
 *   why: {keyword: number, semantic: number, links: number, support: number, boost: number, terms: string[]},
 *   sections: Section[]}} Hit
 *
 * @typedef {{hits: Hit[], total: number, facets: Record<Kind, Count[]>,
 *   spelling: {from: string, to: string}[], near: string[],
 *   took: {ms: number, bytes: number, requests: number}}} Answer
 */

const SECTIONS = 3;
// Pages are looked into for a phrase so many at a time, until enough hold it, and no more than so many.
const PHRASE_STEP = 12;
const PHRASE_DEPTH = 48;
const FEW_HITS = 3;

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
   * Loads what a half-typed query will need; what fails now is tried again by the search itself.
   * @param {string} prefix
   */
  warm(prefix) {
    const tokens = tokensOf(takenApart(prefix).plain).slice(-4);
    for (const stemmer of this.manifest.stemmers) {
      for (const token of tokens)
        this.store.shard(expanded(token, stemmer)[0] || token).catch(() => undefined);
    }
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
  async search(query, { limit = 10, filters = {}, weights = {}, signal } = {}) {
    const before = { ms: performance.now(), bytes: this.parts.bytes, requests: this.parts.requests };
    const typed = takenApart(query);
    const facets = this.store.facets();
    facets.catch(() => undefined);
    const strange = this.tokens();
    const { reads, spelling } = await this.reader.understood(typed, strange);
    signal?.throwIfAborted();
    const question = await this.gatherer.question(reads, typed, filters, strange);
    signal?.throwIfAborted();
    const { ranked: found, matching } = rank(question, this.manifest.weighing(weights));
    const { boosts } = this.manifest.ranking;
    const ranked = boosts.length ? boosted(found, boosts, await facets, new Date()) : found;
    const hits = await this.hits(ranked, reads, typed, limit, signal);
    signal?.throwIfAborted();
    return {
      hits,
      total: hits.length < limit ? hits.length : Math.max(matching.length, hits.length),
      facets: (await facets).counts(matching),
      spelling,
      near: hits.length < FEW_HITS || spelling.length ? await this.reader.near(reads) : [],
      took: {
        ms: performance.now() - before.ms,
        bytes: this.parts.bytes - before.bytes,
        requests: this.parts.requests - before.requests,
      },
    };
  }

  /**
   * The best documents as a reader sees them: none that repeats a better one, all with the phrases, if any
   * has them.
   * @param {Ranked[]} ranked
   * @param {Read[]} reads
   * @param {Typed} typed
   * @param {number} limit
   * @param {AbortSignal} [signal]
   * @returns {Promise<Hit[]>}
   */
  async hits(ranked, reads, { phrases }, limit, signal) {
    const counted = reads.filter(({ weight }) => weight);
    const wanted = new Set(counted.flatMap(({ token, terms }) => [token, ...terms.map(({ term }) => term)]));
    const words = counted.filter(({ terms }) => terms.length).map(({ token }) => token);
    const how = { base: this.parts.base, wanted, stemmers: this.manifest.stemmers };
    const kept = phrases.length ? await this.withPhrases(ranked, phrases, limit, signal) : ranked;
    /** @type {Hit[]} */
    const hits = [];
    const seen = new Set();
    for (let at = 0; hits.length < limit && at < kept.length;) {
      const next = kept.slice(at, (at += limit - hits.length));
      const shown = await Promise.all(
        next.map(({ document, passages }) => this.store.shown(document, passages[0].ordinal)),
      );
      next.forEach((each, i) => {
        const key = keyOf(each, shown[i]);
        if (!seen.has(key)) hits.push(hitOf(each, shown[i], words, how));
        seen.add(key);
      });
    }
    return hits;
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
 * What two hits share of which one repeats the other.
 * @param {Ranked} ranked
 * @param {Shown} shown
 */
function keyOf({ passages }, shown) {
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
 * @param {{base: string, wanted: Set<string>, stemmers: (Stemmer | null)[]}} how
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
