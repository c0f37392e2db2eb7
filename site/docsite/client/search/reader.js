// @ts-check
// Reading a query: the terms that its words stand for, and what an unknown word was meant to be.

import { expanded, folded, partsOfNames, tokensOf, withoutAccents, withoutStopWords } from "./analyze.js";
import { named, valueOf } from "./bytes.js";
import { NEAR_WORDS } from "./format.js";
import { placeOf } from "./manifest.js";
import { termIn } from "./terms.js";
import { LEAST_SPELT, completions, nearestWords } from "./words.js";
/** @import { Typed } from "./query.js" */
/** @import { Store } from "./store.js" */
/** @import { Shard, Term } from "./terms.js" */
/** @import { Tokens } from "./tokens.js" */

/**
 * A token of a query with the terms that it came to; of terms that only begin like it, a passage counts the
 * best. A stop word has no `weight`, and counts for its meaning alone. An `unknown` one came to none; others
 * may have none left that is not another's too. An `unfinished` one is still being typed. `share` is what it
 * counts for the meaning of the query, of which synonyms are a part.
 * @typedef {{token: string, terms: Term[], weight: number, either: boolean, unknown?: boolean,
 *   unfinished?: boolean, share?: number}} Read
 */

export const MOST_TERMS = 64;
const SPELT_WEIGHT = 0.8;
const PART_WEIGHT = 0.5;
const BEGINNINGS = 8;
const NEAR_FILES = 2;
const MOST_RUN = 6;

export class Reader {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
  }

  /**
   * Words of the vocabulary that begin so, or, where there are none, that are spelt almost so.
   * @param {string} prefix
   * @returns {Promise<string[]>}
   */
  async suggest(prefix) {
    const word = folded(prefix.trim());
    const file = await this.store.words(word);
    if (!file) return [];
    const found = completions(file, withoutAccents(word), BEGINNINGS);
    return found.length ? found : nearestWords([file], word, BEGINNINGS);
  }

  /**
   * The terms of a query: as they stand, or what a word was meant to be that neither the index nor the model
   * knows.
   * @param {Typed} typed
   * @param {Tokens} modelTokens
   * @param {() => Promise<void>} [settled] waits until nobody types
   */
  async understood({ plain, prefixes, partial }, modelTokens, settled) {
    const tokens = [...new Set(tokensOf(plain))];
    const { stopWords, questionWords } = this.store.manifest;
    const content = new Set(tokensOf(withoutStopWords(plain, stopWords, questionWords)));
    const lookedUp = async (/** @type {string} */ token) => {
      const read = await this.lookedUp(token);
      return content.has(token) ? read : { ...read, weight: 0 };
    };
    /** @type {Read[]} */
    const found = (await Promise.all(tokens.map(lookedUp))).slice(0, MOST_TERMS);
    for (const prefix of prefixes) found.push(await this.begun(folded(prefix)));
    for (const read of found.filter(({ terms }) => !terms.length)) {
      const parts = tokensOf(partsOfNames(plain, [read.token]).join(" "));
      if (parts.length && folded(partial) === read.token) await settled?.();
      for (const part of parts) found.push({ ...(await this.lookedUp(part)), weight: PART_WEIGHT });
      if (parts.length) read.weight = 0; // known by its parts
    }
    /** @type {{from: string, to: string, offered: boolean}[]} */
    const spelling = [];
    // Where another word is held, a correction is only offered.
    const offered = found.some(({ terms, weight }) => terms.length && weight);
    for (const [i, read] of found.entries()) {
      if (read.terms.length) continue;
      if (partial && i === found.length - 1 && folded(partial) === read.token) {
        found[i] = { ...(await this.begun(read.token)), unfinished: true };
        if (!found[i].terms.length) await settled?.();
      }
      if (found[i].terms.length || (await modelTokens.hasWord(read.token))) continue;
      const [to] = await this.respelt(read.token);
      if (!to) continue;
      found[i] = offered ? { ...read, weight: 0 } : { ...(await this.lookedUp(to)), weight: SPELT_WEIGHT };
      spelling.push({ from: read.token, to, offered });
    }
    // A text without words means what the model makes of one that it cannot read.
    if (!found.length && plain.trim()) found.push({ token: "", terms: [], weight: 0, either: false });
    return { reads: withoutRepeats([...found, ...(await this.synonyms(plain, found))]), spelling };
  }

  /**
   * The words of the glossary's synonyms, which take their share from the words that they stand for.
   * @param {string} plain
   * @param {Read[]} reads
   * @returns {Promise<Read[]>}
   */
  async synonyms(plain, reads) {
    const glossary = await this.store.synonyms();
    const [weight, most] = this.store.manifest.synonyms;
    const pairs = runsOf(plain)
      .flatMap((run) => (glossary.get(run) || []).map((synonym) => ({ run, synonym })))
      .slice(0, most);
    const share = 1 / (pairs.length + 1);
    const own = new Set(reads.map(({ token }) => token));
    /** @type {Read[]} */
    const found = [];
    for (const { run, synonym } of pairs) {
      const replaced = new Set(tokensOf(run));
      for (const read of reads) if (replaced.has(read.token)) read.share = (read.share ?? 1) - share;
      const tokens = tokensOf(synonym).filter((token) => !own.has(token));
      const words = await Promise.all(tokens.map((token) => this.lookedUp(token)));
      for (const each of words) if (each.terms.length) found.push({ ...each, weight, share });
    }
    return found;
  }

  /**
   * A token's terms, as far as the index holds them.
   * @param {string} token
   * @returns {Promise<Read>}
   */
  async lookedUp(token) {
    const names = new Set(this.store.manifest.stemmers.flatMap((stemmer) => expanded(token, stemmer)));
    if (this.store.manifest.aliases) {
      for (const shard of await this.store.shards(token)) {
        for (const term of shard.aliases.get(token) || []) names.add(term);
      }
    }
    const terms = await Promise.all([...names].map((name) => this.store.term(name)));
    return { token, terms: /** @type {Term[]} */ (terms.filter(Boolean)), weight: 1, either: false };
  }

  /**
   * The terms that begin so.
   * @param {string} prefix
   * @returns {Promise<Read>}
   */
  async begun(prefix) {
    const begin = withoutAccents(prefix);
    const shards = await Promise.all(
      (await this.store.shards(begin)).map((shard) => this.orNext(shard, begin)),
    );
    const names = new Set(shards.flatMap((shard) => shard.beginningWith(begin, BEGINNINGS)));
    const found = [...names].map((name) => termIn(name, shards, this.store.manifest));
    const terms = /** @type {Term[]} */ (found.filter(Boolean));
    if (shards.length > 1) terms.sort((a, b) => b.frequency - a.frequency || (a.term < b.term ? -1 : 1));
    return { token: prefix, terms: terms.slice(0, BEGINNINGS), weight: 1, either: true };
  }

  /**
   * The shard, or the one after it where that is the first with terms that begin so.
   * @param {Shard} shard
   * @param {string} begin
   * @returns {Promise<Shard>}
   */
  async orNext(shard, begin) {
    const { segment } = shard;
    const next = Math.max(0, placeOf(segment.firstTerms, begin)) + 1;
    const isNext = segment.firstTerms[next]?.startsWith(begin) && !shard.beginningWith(begin, 1).length;
    return isNext ? this.store.shard(segment, next) : shard;
  }

  /**
   * Words spelt almost as one that the index does not hold.
   * @param {string} word
   * @returns {Promise<string[]>}
   */
  async respelt(word) {
    if (word.length < LEAST_SPELT || !/^\p{L}+$/u.test(word)) return [];
    const file = await this.store.words(word);
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
      const number = this.store.manifest.wordFileOf(token);
      if (number < 0) continue;
      const near = await this.store.part("near_words", number, (columns) =>
        valueOf(named(columns, NEAR_WORDS).near),
      );
      if (Object.hasOwn(near, token)) found.push(...near[token]);
    }
    return [...new Set(found)].filter((word) => !reads.some(({ token }) => token === word));
  }
}

/**
 * Every run of one to six words of a text, longer runs first, as glossaries are looked up.
 * @param {string} text
 * @returns {string[]}
 */
function runsOf(text) {
  const words = (text.match(/[\p{L}\p{N}_]+(?:[-'’.][\p{L}\p{N}_]+)*/gu) || []).slice(0, 100).map(folded);
  const found = new Set();
  for (let length = Math.min(MOST_RUN, words.length); length > 0; length--) {
    for (let at = 0; at + length <= words.length; at++) found.add(words.slice(at, at + length).join(" "));
  }
  return [...found];
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
    unknown: !read.terms.length,
    terms: read.terms.filter(({ term }) => !seen.has(term) && seen.add(term)),
  }));
}
