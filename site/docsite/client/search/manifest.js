// @ts-check
// The manifest: what the index consists of, and what is known of every document without loading more.

import { stemmersFor, withoutAccents } from "./analyze.js";
import { named, numbersOf, valueOf, wordsOf } from "./bytes.js";
import { FAMILIES, FORMAT, MANIFEST, MANIFEST_VECTORS, NAME_CHARS } from "./format.js";
import { Codes } from "./semantic.js";
import { MESSAGES, searchError } from "./parts.js";
/** @import { Boost } from "./boosts.js" */
/** @import { Family } from "./store.js" */

/**
 * Term shards that were made together: the first term of each, and the numbers that documents have by now, by
 * those that they have there; -1 for those that are gone, null where all are the same.
 * @typedef {{family: "term_shards" | "recent_shards", firstTerms: string[], numbers: Int32Array | null}}
 * Segment
 *
 * @typedef {{keyword: number, passage: number, document: number, support: number, links: number,
 *   candidates: number, rrf_k: number | null, boosts: Boost[]}} Ranking
 */

export class Manifest {
  /** @param {Uint8Array[]} columns */
  constructor(columns) {
    const own = named(columns, MANIFEST);
    const header = valueOf(own.header);
    if (header.format !== FORMAT) throw searchError("other-build", MESSAGES["other-build"]);
    /** @type {string} */
    this.build = header.build;
    /** @type {number} */
    this.documents = header.documents;
    /** @type {number} */
    this.passages = header.passages;
    /** @type {number} */
    this.ceiling = header.ceiling;
    /** @type {Ranking} */
    this.ranking = { rrf_k: null, boosts: [], ...header.ranking };
    /** @type {number[]} */
    this.levels = header.posting_levels;
    /** @type {number[][]} */
    this.codeLevels = header.levels;
    /** @type {number} */
    this.ownStep = header.own_step;
    /** @type {number} */
    this.dimensions = header.dimensions;
    /** @type {boolean} */
    this.aliases = header.aliases;
    this.stemmers = stemmersFor(header.languages);
    this.stopWords = new Set(/** @type {string[]} */ (header.stop_words));
    this.questionWords = new Set(/** @type {string[]} */ (header.question_words));
    this.names = filesOf(header.files, own.file_names);
    const stale = ascending(own.stale_gap);
    const recent = ascending(own.recent_gap);
    this.hasStale = stale.length > 0;
    /**
     * Parts of the index that lie apart: that of its base, and that of what was added since.
     * @type {Segment[]}
     */
    this.segments = [
      {
        family: "term_shards",
        firstTerms: wordsOf(own.shard_shared, own.shard_size, own.shard_rest),
        numbers: numbersNow(header.base_documents, stale, recent),
      },
      {
        family: "recent_shards",
        firstTerms: wordsOf(own.recent_shared, own.recent_size, own.recent_rest),
        numbers: null,
      },
    ];
    this.firstLetters = wordsOf(own.letter_shared, own.letter_size, own.letter_rest);
    // The first document of each group of excerpts.
    this.groupStarts = numbersOf(own.first_document_gap);
    for (let i = 1; i < this.groupStarts.length; i++) this.groupStarts[i] += this.groupStarts[i - 1];
    /** What a synonym weighs, and the most that a query gets. @type {[number, number]} */
    this.synonyms = header.synonyms;
    /** @type {number} */
    this.excerptSharing = header.excerpt_sharing;
    this.flags = own.document_flags;
    this.linkSteps = header.link_steps;
    /** @type {number} */
    this.unseenShare = header.unseen_share;
    /** @type {number} */
    this.credibility = header.credibility;
    const vectors = named(columns.slice(MANIFEST.length), MANIFEST_VECTORS);
    this.listOf = [vectors.list_low, vectors.list_high];
    this.codes = this.dimensions ? new Codes(header.levels, this.names.inverted_lists.length, vectors) : null;
  }

  /**
   * Whether a document has but one passage.
   * @param {number} document
   */
  isSingle(document) {
    return (this.flags[document] & 1) === 1;
  }

  /**
   * The list that a document lies in.
   * @param {number} document
   */
  listOfDocument(document) {
    return this.listOf[0][document] + 256 * this.listOf[1][document];
  }

  /**
   * The same, with some of the ranking's numbers multiplied.
   * @param {{keyword?: number, semantic?: number, links?: number, support?: number}} factors
   * @returns {Manifest}
   */
  weighing({ keyword = 1, semantic = 1, links = 1, support = 1 }) {
    const { ranking } = this;
    const changed = {
      ...ranking,
      keyword: ranking.keyword * keyword,
      passage: ranking.passage * semantic,
      document: ranking.document * semantic,
      links: ranking.links * links,
      support: ranking.support * support,
    };
    return Object.assign(Object.create(this), { ranking: changed });
  }

  /**
   * What the links to a document multiply its score by.
   * @param {number} document
   */
  linkFactor(document) {
    return 1 + (this.ranking.links * (this.flags[document] >> 1)) / this.linkSteps;
  }

  /**
   * @param {number} frequency
   * @returns {number}
   */
  idf(frequency) {
    return Math.log1p((this.passages - frequency + 0.5) / (frequency + 0.5));
  }

  /**
   * The file that would hold a word that begins so, or -1.
   * @param {string} word
   */
  wordFileOf(word) {
    return placeOf(this.firstLetters, Array.from(withoutAccents(word))[0] || "");
  }
}

/**
 * @param {Uint8Array} gaps
 * @returns {Int32Array}
 */
function ascending(gaps) {
  const found = numbersOf(gaps);
  for (let i = 1; i < found.length; i++) found[i] += found[i - 1] + 1;
  return found;
}

/**
 * The numbers that documents of the base have now: those that stay keep their order, among recent ones.
 * @param {number} count
 * @param {Int32Array} stale
 * @param {Int32Array} recent
 */
function numbersNow(count, stale, recent) {
  if (!stale.length && !recent.length) return null;
  const found = new Int32Array(count);
  let now = 0;
  for (let document = 0, gone = 0, added = 0; document < count; document++) {
    if (stale[gone] === document) {
      found[document] = -1;
      gone++;
      continue;
    }
    for (; recent[added] === now; added++) now++;
    found[document] = now++;
  }
  return found;
}

/**
 * The names of files.
 * @param {Uint8Array} bytes
 * @returns {string[]}
 */
export function namesOf(bytes) {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.match(new RegExp(`.{${NAME_CHARS}}`, "g")) || [];
}

/**
 * The names of all files by family.
 * @param {Record<string, number>} counts
 * @param {Uint8Array} bytes
 * @returns {Record<Family, string[]>}
 */
function filesOf(counts, bytes) {
  const names = namesOf(bytes);
  const found = /** @type {Record<Family, string[]>} */ ({});
  for (const family of FAMILIES) found[family] = names.splice(0, counts[family]);
  return found;
}

/**
 * The last place whose value is not beyond the one asked for, or -1.
 * @template {string | number} T
 * @param {ArrayLike<T>} sorted
 * @param {T} value
 */
export function placeOf(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Where each run begins, from the lengths of the runs; and the end.
 * @param {Int32Array} sizes
 * @returns {Int32Array}
 */
export function summed(sizes) {
  const starts = new Int32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) starts[i + 1] = starts[i] + sizes[i];
  return starts;
}
