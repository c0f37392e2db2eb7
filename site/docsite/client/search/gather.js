// @ts-check
// Gathering what ranking needs: postings of terms, and the lists of documents nearest in meaning.

import { folded, tokensOf } from "./analyze.js";
import { named } from "./bytes.js";
import { POSTINGS } from "./format.js";
import { InvertedList, nearestLists, product, queryVector } from "./semantic.js";
import { Block } from "./postings.js";
import { MOST_TERMS } from "./reader.js";
/** @import { PostingList } from "./postings.js" */
/** @import { Typed } from "./query.js" */
/** @import { Question } from "./rank.js" */
/** @import { Read, Reader } from "./reader.js" */
/** @import { Store } from "./store.js" */
/** @import { Term } from "./terms.js" */
/** @import { QueryPart } from "./semantic.js" */
/** @import { Token, Tokens } from "./tokens.js" */

const NEAREST_LISTS = 2;
// What one query may load of terms, and of that of later tiers; a filter leaves out most of what first tiers
// hold.
const TERM_BYTES = 105_000;
const TAIL_BYTES = 90_000;
const TAIL_BYTES_FILTERED = 120_000;
const SHARD_BYTES = 2_500;

export class Gatherer {
  /**
   * @param {Store} store
   * @param {Reader} reader
   */
  constructor(store, reader) {
    this.store = store;
    this.reader = reader;
  }

  /**
   * The postings and lists that ranking needs.
   * @param {Read[]} reads
   * @param {Typed} typed
   * @param {Record<string, any>} filters
   * @param {Tokens} tokens
   * @param {AbortSignal} [signal]
   * @returns {Promise<Question>}
   */
  async question(reads, { excluded }, filters, tokens, signal) {
    const flat = flattened(reads);
    const counted = flat.filter(({ weight }) => weight);
    const allowed = Object.values(filters).some((value) => [value ?? []].flat().length)
      ? (await this.store.facets()).allowed(filters)
      : null;
    const unseen = await this.unseenWords(reads, tokens);
    signal?.throwIfAborted(); // what was typed on asks for nothing more
    const [lists, nearby, banned] = await Promise.all([
      this.postings(
        counted.map(({ term }) => term),
        allowed ? TAIL_BYTES_FILTERED : tailBytes(flat),
      ),
      this.nearby([...flat.map(({ term }) => term), ...unseen]),
      this.banned(excluded),
    ]);
    const asked = counted.map((each, i) => ({ ...each, lists: lists[i] }));
    const semanticOnly = flat.filter(({ weight }) => !weight).map(({ term }) => term);
    for (const term of semanticOnly) {
      asked.push({ term, weight: 0, group: Infinity, lists: term.first() });
    }
    const unknown = reads.filter((read) => read.unknown && read.weight).length;
    return { asked, unseen, banned, nearby, allowed, unknown };
  }

  /**
   * What the first tiers alone say, which came with the terms.
   * @param {Read[]} reads
   * @returns {Question}
   */
  beginning(reads) {
    const asked = flattened(reads).map((each) => ({
      ...each,
      lists: each.term.first(),
      group: each.weight ? each.group : Infinity,
    }));
    return { asked, unseen: [], banned: [], nearby: [], allowed: null, unknown: 0 };
  }

  /**
   * What stands for the words without a vector: the tokens of the model that they are made of, which count
   * for their meaning alone, and the less the more there are.
   * @param {Read[]} reads
   * @param {Tokens} tokens
   * @returns {Promise<QueryPart[]>}
   */
  async unseenWords(reads, tokens) {
    const { manifest } = this.store;
    /** @type {QueryPart[]} */
    const found = [];
    for (const { token, terms, unknown } of reads) {
      if (terms.length ? terms.some(({ vector }) => vector) : !unknown) continue;
      const parts = await tokens.of(token);
      const letters = parts.reduce((sum, part) => sum + part.letters, 0);
      const weight = (manifest.unseenShare * manifest.idf(0)) / (letters * parts.length);
      found.push(...parts.map((part) => weighed(part, weight * part.letters)));
    }
    return found;
  }

  /**
   * The posting lists of terms: first tiers, and as many others as may be loaded, those of rare terms first.
   * @param {Term[]} terms
   * @param {number} budget
   * @returns {Promise<PostingList[][]>}
   */
  postings(terms, budget) {
    const found = terms.map((term) => term.first().map((list) => Promise.resolve(list)));
    const taken = terms.map(() => 0);
    const all = terms.flatMap((term, i) => term.tails.map((tail, tier) => ({ ...tail, i, tier })));
    all.sort((a, b) => terms[b.i].idf / (1 + b.tier) - terms[a.i].idf / (1 + a.tier) || a.tier - b.tier);
    for (const { file, size, list, i, tier } of all) {
      if (size > budget || taken[i] !== tier) continue;
      budget -= size;
      taken[i]++;
      found[i].push(
        this.store.part("posting_tiers", file, (columns) => new Block(named(columns, POSTINGS))).then(list),
      );
    }
    return Promise.all(found.map((lists) => Promise.all(lists)));
  }

  /**
   * The lists of documents whose meaning is nearest to that of these terms.
   * @param {QueryPart[]} terms
   * @returns {Promise<InvertedList[]>}
   */
  async nearby(terms) {
    const { codes, dimensions } = this.store.manifest;
    const { sum, length } = queryVector(terms, dimensions);
    if (!codes || !length || !product(sum, sum)) return [];
    const numbers = nearestLists(codes.products(sum), NEAREST_LISTS);
    return Promise.all(
      numbers.map((number) =>
        this.store.part("inverted_lists", number, (columns) => new InvertedList(columns, codes)),
      ),
    );
  }

  /**
   * The postings of the words that no hit may hold; of a phrase, of all its words together only its pages are
   * known.
   * @param {string[]} excluded
   * @returns {Promise<PostingList[][]>}
   */
  async banned(excluded) {
    const words = excluded
      .filter((value) => tokensOf(value).length === 1)
      .map((value) => this.reader.lookedUp(folded(value)));
    const terms = (await Promise.all(words)).flatMap((read) => read.terms.slice(0, 1));
    return this.postings(terms, TAIL_BYTES_FILTERED);
  }
}

/**
 * The terms of all words, each with its weight and the group of which a passage counts the best.
 * @param {Read[]} reads
 */
function flattened(reads) {
  return reads.flatMap(({ terms, weight, either, share = 1 }, group) =>
    terms.map((term, i) => ({
      term: share === 1 ? term : sharing(term, share),
      weight,
      group: either ? -1 - group : group * MOST_TERMS + i,
    })),
  );
}

/**
 * A term that counts only so much for the meaning of the query.
 * @param {Term} term
 * @param {number} share
 * @returns {Term}
 */
function sharing(term, share) {
  return {
    ...term,
    share,
    length: term.length * share,
    vector: term.vector && term.vector.map((each) => each * share),
  };
}

/**
 * A token that says only so much of what it would say.
 * @param {Token} token
 * @param {number} weight
 * @returns {QueryPart}
 */
function weighed({ vector, length }, weight) {
  return { length: weight * length, vector: vector.map((x) => weight * x) };
}

/**
 * What a query may load of later tiers: the less, the more shards it needed.
 * @param {{term: Term}[]} asked
 */
function tailBytes(asked) {
  return Math.min(
    TAIL_BYTES,
    TERM_BYTES - SHARD_BYTES * new Set(asked.flatMap(({ term }) => term.shards)).size,
  );
}
