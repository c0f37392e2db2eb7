// @ts-check
// Several sites searched at once: this one's engine and those of others, whose hits stand among each other by
// their scores.

import { reader } from "../reader/published.js";

/**
 * An answer of one site, as far as its hits were taken.
 * @typedef {{engine: SearchEngine, answer: SearchAnswer, label: string, hits: SearchHit[], ended: boolean}}
 *   Source
 *
 * @typedef {{label: string, url: string}} OtherSite
 */

// How long an answer waits for the other sites, while this one's own hits are shown; one that takes longer is
// named.
const PATIENCE_MS = 1500;

/** The other sites that this one's search asks too. @returns {OtherSite[]} */
export function otherSites() {
  const link = document.querySelector("[data-search]");
  return JSON.parse(link?.getAttribute("data-also") || "[]");
}

export class Several {
  /**
   * @param {SearchEngine} own
   * @param {OtherSite[]} sites
   */
  constructor(own, sites) {
    this.own = own;
    this.sites = sites;
    /** @type {Map<string, Promise<SearchEngine>>} */
    this.opened = new Map();
    /** @type {WeakMap<SearchAnswer, Source[]>} */
    this.behind = new WeakMap();
  }

  /**
   * A site that could not be reached is tried again with the next search.
   * @param {OtherSite} site
   * @returns {Promise<SearchEngine>}
   */
  open({ url }) {
    let found = this.opened.get(url);
    if (!found) {
      const base = new URL("_search/", new URL(url.replace(/\/?$/, "/"), reader.root)).href;
      found = window.noctule ? window.noctule.open({ base }) : Promise.reject(new Error("no engine"));
      found.catch(() => this.opened.delete(url));
      this.opened.set(url, found);
    }
    return found;
  }

  /**
   * The hits of all sites; filters are this site's alone, so with one chosen only its own.
   * @param {string} query
   * @param {QueryOptions} options
   * @returns {Promise<SearchAnswer>}
   */
  async search(query, { alone, ...options }) {
    if (alone || options.weights) return this.own.search(query, options);
    const asked = { limit: options.limit, filters: {}, facets: false, signal: options.signal };
    const others = this.sites.map((site) => this.open(site).then((engine) => ({ engine, site })));
    const answers = others.map(async (opened) => {
      const { engine, site } = await opened;
      return sourceOf(engine, await engine.search(query, asked), site.label);
    });
    let waiting = answers.length;
    for (const each of answers)
      each
        .then(
          () => undefined,
          () => undefined,
        )
        .then(() => waiting--);
    const answer = await this.own.search(query, options);
    if (waiting && answer.hits.length && !options.signal?.aborted) options.early?.(answer.hits);
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    const found = await Promise.all(
      answers.map((each) => Promise.race([each, late.then(() => null)]).catch(() => null)),
    );
    options.signal?.throwIfAborted();
    const sources = [sourceOf(this.own, answer, ""), ...found.filter((each) => each !== null)];
    /** @type {SearchAnswer} */
    const all = {
      ...answer,
      total: sources.reduce((sum, source) => sum + source.answer.total, 0),
      absent: this.sites.flatMap(({ label }, i) => (found[i] ? [] : [label])),
    };
    this.behind.set(all, sources);
    all.hits = await taken(sources, options.limit);
    return all;
  }

  /** @param {{limit: number, filters: SearchFilters}} options */
  browse(options) {
    return this.own.browse(options);
  }

  /**
   * @param {SearchAnswer} answer
   * @param {number} count
   */
  async more(answer, count) {
    const sources = this.behind.get(answer);
    return sources ? taken(sources, count) : this.own.more(answer, count);
  }

  /** @param {SearchAnswer | null} answer */
  facets(answer) {
    const sources = answer && this.behind.get(answer);
    return this.own.facets(sources ? sources[0].answer : answer);
  }

  /** @param {string} words */
  warm(words) {
    this.own.warm(words);
    for (const site of this.sites)
      this.open(site).then(
        (engine) => engine.warm(words),
        () => undefined,
      );
  }

  /** @param {string} prefix */
  suggest(prefix) {
    return this.own.suggest(prefix);
  }
}

/**
 * @param {SearchEngine} engine
 * @param {SearchAnswer} answer
 * @param {string} label
 * @returns {Source}
 */
function sourceOf(engine, answer, label) {
  const hits = answer.hits.map((hit) => ({ ...hit, site: label }));
  return { engine, answer, label, hits, ended: answer.hits.length >= answer.total };
}

/**
 * The best hits of all sources that were not taken yet; of equal ones this site's come first.
 * @param {Source[]} sources
 * @param {number} count
 * @returns {Promise<SearchHit[]>}
 */
async function taken(sources, count) {
  /** @type {SearchHit[]} */
  const found = [];
  while (found.length < count) {
    for (const source of sources) {
      if (source.hits.length || source.ended) continue;
      const more = await source.engine.more(source.answer, count).catch(() => []);
      source.hits = more.map((hit) => ({ ...hit, site: source.label }));
      source.ended = more.length < count;
    }
    const [best] = sources
      .filter(({ hits }) => hits.length)
      .sort((a, b) => b.hits[0].score - a.hits[0].score);
    if (!best) break;
    found.push(.../** @type {SearchHit[]} */ ([best.hits.shift()]));
  }
  return found;
}
