// @ts-check
// The engine: which files a query needs, in which order, and what the answer says.

/**
 * @typedef {{limit?: number, filters?: Record<string, any>, signal?: AbortSignal}} SearchOptions
 *
 * @typedef {{url: string, title: string, breadcrumb: string[], score: number, modified?: string,
 *   why: {keyword: number, semantic: number, links: number, support: number, terms: string[]},
 *   sections: Section[]}} Hit
 *
 * @typedef {{hits: Hit[], total: number, facets: Record<Kind, Count[]>,
 *   spelling: {from: string, to: string}[], near: string[],
 *   took: {ms: number, bytes: number, requests: number}}} Answer
 *
 * A token of a query with the terms that it came to.
 * @typedef {{token: string, terms: Term[], weight: number, either: boolean}} Read
 */

const NEAREST_LISTS = 6;
const MOST_TERMS = 64;
// What one query may load of terms, and of that of later tiers; a filter leaves out most of what first tiers hold.
const TERM_BYTES = 90_000;
const TAIL_BYTES = 72_000;
const TAIL_BYTES_FILTERED = 120_000;
const SHARD_BYTES = 5_500;
const NEAR_FILES = 2;
const SPELT_WEIGHT = 0.8;
const BEGINNINGS = 8;
const SECTIONS = 3;
const PHRASE_DEPTH = 12;
const FEW_HITS = 3;

/**
 * An engine for the index in a folder; rejects with an error that has a `code`.
 * @param {{base: string}} where
 * @returns {Promise<Engine>}
 */
noctule.open = async function ({ base }) {
  if (typeof DecompressionStream === "undefined") {
    throw searchError("missing", "This browser is too old for the search of this site.");
  }
  const parts = new Parts(new URL(base, document.baseURI).href);
  const manifest = new Manifest(await parts.load("manifest"));
  parts.build = manifest.build;
  return new Engine(parts, manifest);
};

class Engine {
  /**
   * @param {Parts} parts
   * @param {Manifest} manifest
   */
  constructor(parts, manifest) {
    this.parts = parts;
    this.manifest = manifest;
    /** @type {Map<string, any>} */
    this.read = new Map();
  }

  /**
   * What a file holds, read once.
   * @template T
   * @param {string} family
   * @param {number} number
   * @param {(columns: Uint8Array[]) => T} reader
   * @returns {Promise<T>}
   */
  async part(family, number, reader) {
    const name = this.manifest.names[family][number];
    const key = `${family} ${name}`;
    if (!this.read.has(key)) {
      const columns = await this.parts.load(name);
      if (!this.read.has(key)) this.read.set(key, reader(columns));
    }
    return this.read.get(key);
  }

  /**
   * The shard that would hold a term, or null where there are none.
   * @param {string} term
   * @returns {Promise<Shard | null>}
   */
  async shard(term) {
    if (!this.manifest.firstTerms.length) return null;
    return this.part("shards", this.manifest.shardOf(term), (columns) => new Shard(columns, this.manifest));
  }

  /** @returns {Promise<Facets>} */
  facets() {
    return this.part("facets", 0, (columns) => new Facets(columns));
  }

  /**
   * Words of the vocabulary that begin so, or, where there are none, that are spelt almost so.
   * @param {string} prefix
   * @returns {Promise<string[]>}
   */
  async suggest(prefix) {
    const word = folded(prefix.trim());
    const file = await this.words(word);
    if (!file) return [];
    const found = completions(file, withoutAccents(word), BEGINNINGS);
    return found.length ? found : nearestWords([file], word, BEGINNINGS);
  }

  /**
   * @param {string} word
   * @returns {Promise<Words | null>}
   */
  async words(word) {
    const number = word ? this.manifest.wordFileOf(word) : -1;
    return number < 0 ? null : this.part("words", number, readWords);
  }

  /**
   * Loads what a half-typed query will need; what fails now is tried again by the search itself.
   * @param {string} prefix
   */
  warm(prefix) {
    const tokens = tokensOf(takenApart(prefix).plain).slice(-4);
    for (const stemmer of this.manifest.stemmers) {
      for (const token of tokens) this.shard(expanded(token, stemmer)[0] || token).catch(() => undefined);
    }
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
    const facets = this.facets();
    facets.catch(() => undefined);
    const { reads, spelling } = await this.understood(typed);
    signal?.throwIfAborted();
    const question = await this.question(reads, typed, filters, facets);
    signal?.throwIfAborted();
    const { ranked, matching } = rank(question, this.manifest.weighing(weights));
    const hits = await this.hits(ranked, reads, typed, limit);
    signal?.throwIfAborted();
    return {
      hits,
      total: hits.length < limit ? hits.length : Math.max(matching.length, hits.length),
      facets: (await facets).counts(matching),
      spelling,
      near: hits.length < FEW_HITS || spelling.length ? await this.near(reads) : [],
      took: {
        ms: performance.now() - before.ms,
        bytes: this.parts.bytes - before.bytes,
        requests: this.parts.requests - before.requests,
      },
    };
  }

  /**
   * The terms of a query: as they stand, or what a word that nothing holds was meant to be.
   * @param {Typed} typed
   */
  async understood({ plain, prefixes, partial }) {
    const tokens = [...new Set(tokensOf(plain))];
    /** @type {Read[]} */
    const found = (await Promise.all(tokens.map((token) => this.lookedUp(token)))).slice(0, MOST_TERMS);
    for (const prefix of prefixes) found.push(await this.begun(folded(prefix)));
    /** @type {{from: string, to: string}[]} */
    const spelling = [];
    for (const [i, read] of found.entries()) {
      if (read.terms.length) continue;
      if (partial && i === found.length - 1 && folded(partial) === read.token) found[i] = await this.begun(read.token);
      if (found[i].terms.length) continue;
      const [to] = await this.respelt(read.token);
      if (!to) continue;
      found[i] = { ...(await this.lookedUp(to)), weight: SPELT_WEIGHT };
      spelling.push({ from: read.token, to });
    }
    return { reads: withoutRepeats(found), spelling };
  }

  /**
   * A token's terms, as far as the index holds them.
   * @param {string} token
   * @returns {Promise<Read>}
   */
  async lookedUp(token) {
    const names = new Set(this.manifest.stemmers.flatMap((stemmer) => expanded(token, stemmer)));
    if (this.manifest.aliases) {
      for (const term of (await this.shard(token))?.aliases.get(token) || []) names.add(term);
    }
    const terms = await Promise.all([...names].map(async (name) => (await this.shard(name))?.find(name)));
    return { token, terms: /** @type {Term[]} */ (terms.filter(Boolean)), weight: 1, either: false };
  }

  /**
   * The terms that begin so.
   * @param {string} prefix
   * @returns {Promise<Read>}
   */
  async begun(prefix) {
    const begin = withoutAccents(prefix);
    const shard = await this.shard(begin);
    let terms = shard ? shard.beginningWith(begin, BEGINNINGS) : [];
    const next = this.manifest.shardOf(begin) + 1;
    if (!terms.length && this.manifest.firstTerms[next]?.startsWith(begin)) {
      terms = (await this.shard(this.manifest.firstTerms[next]))?.beginningWith(begin, BEGINNINGS) || [];
    }
    return { token: prefix, terms, weight: 1, either: true };
  }

  /**
   * Words spelt almost as one that the index does not hold.
   * @param {string} word
   * @returns {Promise<string[]>}
   */
  async respelt(word) {
    if (word.length < LEAST_SPELT || !/^\p{L}+$/u.test(word)) return [];
    const file = await this.words(word);
    return file ? nearestWords([file], word, 1) : [];
  }

  /**
   * Words near in meaning to those of the query.
   * @param {Read[]} reads
   * @returns {Promise<string[]>}
   */
  async near(reads) {
    /** @type {string[]} */
    const found = [];
    for (const { token } of reads.slice(0, NEAR_FILES)) {
      const number = this.manifest.wordFileOf(token);
      if (number < 0) continue;
      const near = await this.part("near", number, (columns) => valueOf(columns[0]));
      if (Object.hasOwn(near, token)) found.push(...near[token]);
    }
    return [...new Set(found)].filter((word) => !reads.some(({ token }) => token === word));
  }

  /**
   * The postings and lists that ranking needs.
   * @param {Read[]} reads
   * @param {Typed} typed
   * @param {Record<string, any>} filters
   * @param {Promise<Facets>} facets
   * @returns {Promise<Question>}
   */
  async question(reads, { excluded }, filters, facets) {
    const flat = reads.flatMap(({ terms, weight, either }, group) =>
      terms.map((term, i) => ({ term, weight, group: either ? -1 - group : group * MOST_TERMS + i })),
    );
    const allowed = Object.values(filters).some((value) => [value ?? []].flat().length)
      ? (await facets).allowed(filters)
      : null;
    const [lists, nearby, banned] = await Promise.all([
      this.postings(flat.map(({ term }) => term), allowed ? TAIL_BYTES_FILTERED : tailBytes(flat)),
      this.nearby(flat.map(({ term }) => term)),
      this.banned(excluded),
    ]);
    return { asked: flat.map((each, i) => ({ ...each, lists: lists[i] })), banned, nearby, allowed };
  }

  /**
   * The posting lists of terms: first tiers, and as many others as may be loaded, those of rare terms first.
   * @param {Term[]} terms
   * @param {number} budget
   * @returns {Promise<PostingList[][]>}
   */
  postings(terms, budget) {
    const found = terms.map((term) => [Promise.resolve(term.shard.block.list(term.place))]);
    const all = terms.flatMap((term, i) => term.tails.map((tail, tier) => ({ ...tail, i, tier })));
    all.sort((a, b) => terms[b.i].idf / (1 + b.tier) - terms[a.i].idf / (1 + a.tier) || a.tier - b.tier);
    for (const { file, place, size, i, tier } of all) {
      if (size > budget || found[i].length !== tier + 1) continue;
      budget -= size;
      found[i].push(this.part("tails", file, (columns) => new Block(columns)).then((block) => block.list(place)));
    }
    return Promise.all(found.map((lists) => Promise.all(lists)));
  }

  /**
   * The lists of documents whose meaning is nearest to that of these terms.
   * @param {Term[]} terms
   * @returns {Promise<List[]>}
   */
  async nearby(terms) {
    const { codes, dimensions } = this.manifest;
    const { sum, length } = queryVector(terms, dimensions);
    if (!codes || !length || !product(sum, sum)) return [];
    const numbers = nearestLists(codes.products(sum), NEAREST_LISTS);
    return Promise.all(numbers.map((number) => this.part("lists", number, (columns) => new List(columns, codes))));
  }

  /**
   * The postings of the words that no hit may hold; of a phrase, of all its words together only its pages are known.
   * @param {string[]} excluded
   * @returns {Promise<PostingList[][]>}
   */
  async banned(excluded) {
    const words = excluded.filter((value) => tokensOf(value).length === 1).map((value) => this.lookedUp(folded(value)));
    const terms = (await Promise.all(words)).flatMap((read) => read.terms.slice(0, 1));
    return this.postings(terms, TAIL_BYTES_FILTERED);
  }

  /**
   * The best documents as a reader sees them: none that repeats a better one, all with the phrases, if any has them.
   * @param {Ranked[]} ranked
   * @param {Read[]} reads
   * @param {Typed} typed
   * @param {number} limit
   * @returns {Promise<Hit[]>}
   */
  async hits(ranked, reads, { phrases }, limit) {
    const wanted = new Set(reads.flatMap(({ token, terms }) => [token, ...terms.map(({ term }) => term)]));
    const words = reads.filter(({ terms }) => terms.length).map(({ token }) => token);
    const how = { base: this.parts.base, wanted, stemmers: this.manifest.stemmers };
    const kept = phrases.length ? await this.withPhrases(ranked, phrases) : ranked;
    /** @type {Hit[]} */
    const hits = [];
    const seen = new Set();
    for (let at = 0; hits.length < limit && at < kept.length; ) {
      const next = kept.slice(at, (at += limit - hits.length));
      const shown = await Promise.all(next.map(({ document, passages }) => this.shown(document, passages[0].ordinal)));
      next.forEach((each, i) => {
        const key = `${shown[i].title}\n${passageOf(shown[i], each.passages[0])?.[1]}`;
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
   * @returns {Promise<Ranked[]>}
   */
  async withPhrases(ranked, phrases) {
    const head = ranked.slice(0, PHRASE_DEPTH);
    const shown = await Promise.all(head.map(({ document, passages }) => this.shown(document, passages[0].ordinal)));
    const holds = (/** @type {Shown} */ page, /** @type {string} */ phrase) =>
      [page.title, ...page.sections.map(([title]) => title), ...page.passages.map(([, text]) => text)].some((text) =>
        this.manifest.stemmers.some((stemmer) => holdsPhrase(text, phrase, stemmer)),
      );
    const kept = head.filter((_, i) => phrases.every((phrase) => holds(shown[i], phrase)));
    return kept.length ? kept : ranked;
  }

  /**
   * What there is to show of a document around one of its passages.
   * @param {number} document
   * @param {number} ordinal
   * @returns {Promise<Shown>}
   */
  async shown(document, ordinal) {
    const number = this.manifest.groupOf(document, Math.max(0, ordinal));
    const pieces = await this.part("groups", number, readGroup);
    return pieces[document - this.manifest.groupDocuments[number]];
  }
}

/**
 * What a query may load of later tiers: the less, the more shards it needed.
 * @param {{term: Term}[]} asked
 */
function tailBytes(asked) {
  return Math.min(TAIL_BYTES, TERM_BYTES - SHARD_BYTES * new Set(asked.map(({ term }) => term.shard)).size);
}

/**
 * Each term once, with the token that named it first.
 * @param {Read[]} reads
 * @returns {Read[]}
 */
function withoutRepeats(reads) {
  const seen = new Set();
  return reads.map((read) => ({
    ...read,
    terms: read.terms.filter(({ term }) => !seen.has(term) && seen.add(term)),
  }));
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
  const { score, links, support, passages } = ranked;
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
    why: { keyword, semantic, links, support, terms },
    sections: Array.from(best, ([section, text]) => sectionOf(shown, section, text, how)),
  };
}
