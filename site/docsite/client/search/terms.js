// @ts-check
// Term shards: words that lie next to each other in the alphabet, with all that ranking needs of them.

import { named, numbersOf, valueOf, wordsOf } from "./bytes.js";
import { CONTRIBUTION_UNITS, IMPACT_UNITS, TERM_SHARD } from "./format.js";
import { placeOf } from "./manifest.js";
import { Block } from "./postings.js";
import { ShardVectors } from "./vectors.js";
/** @import { Manifest } from "./manifest.js" */

/** @typedef {{file: number, place: number, size: number}} Tail */

/**
 * A term as the index knows it. A level of its postings stands for an impact (BM25F's score) and for a
 * contribution (what the term adds to the cosine, times the length of the query's vector).
 * @typedef {{term: string, idf: number, frequency: number, documents: number, impact: Float64Array,
 *   contribution: Float64Array, step: number, length: number, vector: Float32Array | null, tails: Tail[],
 *   place: number, shard: Shard}} Term
 */

export class Shard {
  /**
   * @param {Uint8Array[]} columns
   * @param {Manifest} manifest
   */
  constructor(columns, manifest) {
    this.manifest = manifest;
    const own = named(columns, TERM_SHARD);
    this.words = wordsOf(own.term_shared, own.term_size, own.term_rest);
    this.frequencies = numbersOf(own.passages);
    this.documents = numbersOf(own.documents);
    this.impacts = own.impact_range;
    this.contributions = new Int8Array(own.contribution_range.slice().buffer);
    this.vectors = new ShardVectors(own.vector_length, own.vector, manifest.dimensions);
    this.tails = tailsOf(numbersOf(own.tier_places));
    /** @type {Map<string, string[]>} */
    this.aliases = new Map(
      valueOf(own.aliases).map((/** @type {string[]} */ [word, ...terms]) => [word, terms]),
    );
    this.block = new Block(own);
  }

  /**
   * @param {string} word
   * @returns {Term | null}
   */
  find(word) {
    const place = placeOf(this.words, word);
    return place >= 0 && this.words[place] === word ? this.term(place) : null;
  }

  /**
   * The commonest terms that begin so.
   * @param {string} prefix
   * @param {number} limit
   * @returns {Term[]}
   */
  beginningWith(prefix, limit) {
    /** @type {number[]} */
    const places = [];
    for (let place = 0; place < this.words.length; place++) {
      if (this.words[place].startsWith(prefix)) places.push(place);
    }
    places.sort((a, b) => this.frequencies[b] - this.frequencies[a] || a - b);
    return places.slice(0, limit).map((place) => this.term(place));
  }

  /**
   * @param {number} place
   * @returns {Term}
   */
  term(place) {
    const count = this.words.length;
    const { manifest } = this;
    const idf = manifest.idf(this.frequencies[place]);
    const length = this.vectors.length(place);
    const levels = manifest.levels[32 - Math.clz32(this.frequencies[place])];
    const best = (idf * manifest.ceiling) / IMPACT_UNITS;
    return {
      term: this.words[place],
      idf,
      frequency: this.frequencies[place],
      documents: this.documents[place],
      impact: scale(this.impacts[place] * best, this.impacts[place + count] * best, levels),
      contribution: scale(
        (this.contributions[place] * length) / CONTRIBUTION_UNITS,
        (this.contributions[place + count] * length) / CONTRIBUTION_UNITS,
        levels,
      ),
      step: (manifest.ownStep * length) / levels,
      length,
      vector: this.vectors.vector(place),
      tails: this.tails.get(place) || [],
      place,
      shard: this,
    };
  }
}

/**
 * What each level stands for.
 * @param {number} low
 * @param {number} high
 * @param {number} levels
 */
function scale(low, high, levels) {
  return Float64Array.from({ length: levels + 1 }, (_, level) => low + ((high - low) * level) / levels);
}

/**
 * @param {Int32Array} numbers
 * @returns {Map<number, Tail[]>}
 */
function tailsOf(numbers) {
  /** @type {Map<number, Tail[]>} */
  const found = new Map();
  for (let at = 0; at < numbers.length;) {
    const place = numbers[at++];
    /** @type {Tail[]} */
    const tails = [];
    for (let left = numbers[at++]; left > 0; left--) {
      tails.push({ file: numbers[at++], place: numbers[at++], size: numbers[at++] });
    }
    found.set(place, tails);
  }
  return found;
}
