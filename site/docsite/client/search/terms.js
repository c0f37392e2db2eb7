// @ts-check
// Term shards: words that lie next to each other in the alphabet, with all that ranking needs of them.

import { named, numbersOf, valueOf, wordsOf } from "./bytes.js";
import { CONTRIBUTION_UNITS, IMPACT_UNITS, TERM_SHARD } from "./format.js";
import { placeOf } from "./manifest.js";
import { Block, renumbered } from "./postings.js";
import { ShardVectors } from "./vectors.js";
/** @import { Manifest, Segment } from "./manifest.js" */
/** @import { Levels, PostingList } from "./postings.js" */

/**
 * A list of a later tier: where it is, and how it is read there.
 * @typedef {{file: number, place: number, size: number, list: (block: Block) => PostingList}} Tail
 *
 * A term as the index knows it, in all segments together. `first` gives its first tiers; `share` says what
 * part of its own it counts for the meaning of a query.
 * @typedef {{term: string, idf: number, frequency: number, length: number, vector: Float32Array | null,
 *   share: number, first: () => PostingList[], tails: Tail[], shards: Shard[]}} Term
 */

export class Shard {
  /**
   * @param {Uint8Array[]} columns
   * @param {Manifest} manifest
   * @param {Segment} segment
   */
  constructor(columns, manifest, segment) {
    this.manifest = manifest;
    this.segment = segment;
    const own = named(columns, TERM_SHARD);
    this.words = wordsOf(own.term_shared, own.term_size, own.term_rest);
    this.frequencies = numbersOf(own.passages);
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
   * The place of a term, or -1.
   * @param {string} word
   */
  find(word) {
    const place = placeOf(this.words, word);
    return place >= 0 && this.words[place] === word ? place : -1;
  }

  /**
   * The commonest terms that begin so.
   * @param {string} prefix
   * @param {number} limit
   * @returns {string[]}
   */
  beginningWith(prefix, limit) {
    /** @type {number[]} */
    const places = [];
    for (let place = 0; place < this.words.length; place++) {
      if (this.words[place].startsWith(prefix)) places.push(place);
    }
    places.sort((a, b) => this.frequencies[b] - this.frequencies[a] || a - b);
    return places.slice(0, limit).map((place) => this.words[place]);
  }

  /**
   * What the levels of a term's postings stand for here.
   * @param {number} place
   * @param {number} idf
   * @param {number} length that of the term's vector
   * @returns {Levels}
   */
  levels(place, idf, length) {
    const { manifest, words, impacts, contributions } = this;
    const count = words.length;
    const levels = manifest.levels[32 - Math.clz32(this.frequencies[place])];
    const best = (idf * manifest.ceiling) / IMPACT_UNITS;
    const unit = length / CONTRIBUTION_UNITS;
    return {
      impact: scale(impacts[place] * best, impacts[place + count] * best, levels),
      contribution: scale(contributions[place] * unit, contributions[place + count] * unit, levels),
      step: (manifest.ownStep * length) / levels,
    };
  }
}

/**
 * A term by what the shards of all segments say of it; null where none holds it.
 * @param {string} word
 * @param {Shard[]} shards
 * @param {Manifest} manifest
 * @returns {Term | null}
 */
export function termIn(word, shards, manifest) {
  const found = shards.map((shard) => ({ shard, place: shard.find(word) })).filter(({ place }) => place >= 0);
  if (!found.length) return null;
  const frequency = found.reduce((sum, { shard, place }) => sum + shard.frequencies[place], 0);
  const idf = manifest.idf(Math.min(frequency, manifest.passages));
  // A later segment gives a vector only to terms that those before it have none of.
  const known = found.find(({ shard, place }) => shard.vectors.length(place));
  const length = known ? known.shard.vectors.length(known.place) : 0;
  const parts = found.map(({ shard, place }) => {
    const levels = shard.levels(place, idf, length);
    const list = (/** @type {Block} */ block, at = place) =>
      renumbered({ ...block.list(at), levels }, shard.segment.numbers);
    return { list, block: shard.block, tails: shard.tails.get(place) || [] };
  });
  const tails = parts.flatMap(({ list, tails: own }) =>
    own.map((tail) => ({ ...tail, list: (/** @type {Block} */ block) => list(block, tail.place) })),
  );
  const first = () => parts.map(({ list, block }) => list(block));
  // Of a term that only documents held which have changed nothing is left.
  if (manifest.hasStale && !tails.length && first().every(({ documents }) => !documents.length)) return null;
  const vector = known ? known.shard.vectors.vector(known.place) : null;
  return { term: word, idf, frequency, length, vector, share: 1, first, tails, shards };
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

/** @param {Int32Array} numbers */
function tailsOf(numbers) {
  /** @type {Map<number, {file: number, place: number, size: number}[]>} */
  const found = new Map();
  for (let at = 0; at < numbers.length;) {
    const place = numbers[at++];
    const tails = [];
    for (let left = numbers[at++]; left > 0; left--) {
      tails.push({ file: numbers[at++], place: numbers[at++], size: numbers[at++] });
    }
    found.set(place, tails);
  }
  return found;
}
