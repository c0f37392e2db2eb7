// @ts-check
// Accumulators of a query: a number for every passage that it touches.

import { summed } from "./manifest.js";
import { queryVector } from "./semantic.js";
/** @import { Manifest } from "./manifest.js" */
/** @import { QueryPart } from "./semantic.js" */
/** @import { PostingList } from "./postings.js" */
/** @import { Question } from "./rank.js" */

/** A place for every passage that a query touches; a document's passages lie next to each other. */
export class Accumulators {
  /**
   * @param {Question} question
   * @param {Manifest} manifest
   */
  constructor({ asked, allowed, nearby }, manifest) {
    this.of = new Int32Array(manifest.documents).fill(-1);
    /** @type {number[]} */
    const documents = [];
    /** @type {number[]} */
    const widths = [];
    const widen = (/** @type {number} */ document, /** @type {number} */ width) => {
      let slot = this.of[document];
      if (slot === -1) {
        slot = this.of[document] = allowed && !allowed(document) ? -2 : documents.length;
        if (slot >= 0) {
          documents.push(document);
          widths.push(width);
        }
      }
      if (slot >= 0 && widths[slot] < width) widths[slot] = width;
    };
    for (const { lists } of asked) {
      for (const { documents: found, starts, ordinals } of lists) {
        for (let p = 0; p < found.length; p++) widen(found[p], ordinals[starts[p + 1] - 1] + 1);
      }
    }
    for (const list of nearby) for (const document of list.documents) widen(document, 0);
    this.documents = Int32Array.from(documents);
    this.starts = summed(Int32Array.from(widths));
    const size = this.starts[documents.length];
    this.keyword = new Float64Array(size);
    // Whether a passage holds a word that counts for its meaning alone.
    this.semanticOnly = new Uint8Array(size);
    // The cosines of passages and of their documents, and what of the latter the words add that a document
    // holds.
    this.own = new Float64Array(size);
    this.held = new Float64Array(documents.length);
    this.around = new Float64Array(documents.length);
    this.single = this.documents.map((document) => (manifest.isSingle(document) ? 1 : 0));
    this.banned = new Uint8Array(size);
  }

  /**
   * Calls back for every posting of a list: the slot of its document, the place of its passage, its row.
   * @param {PostingList} list
   * @param {(slot: number, place: number, row: number) => void} each
   */
  forEach({ documents, starts, ordinals }, each) {
    for (let pair = 0; pair < documents.length; pair++) {
      const slot = this.of[documents[pair]];
      if (slot < 0) continue;
      const first = this.starts[slot];
      const end = this.starts[slot + 1];
      for (let row = starts[pair]; row < starts[pair + 1]; row++) {
        if (first + ordinals[row] < end) each(slot, first + ordinals[row], row);
      }
    }
  }
}

/**
 * Products of the terms' vectors with documents: of those in the lists that were loaded, else of their lists'
 * centroids.
 */
export class TermProducts {
  /**
   * @param {Question} question
   * @param {Manifest} manifest
   */
  constructor({ asked, unseen, nearby }, manifest) {
    const { codes, dimensions } = manifest;
    /** @type {QueryPart[]} */
    const terms = [...asked.map(({ term }) => term), ...unseen];
    this.count = terms.length;
    this.length = Math.max(queryVector(terms, dimensions).length, 1e-9);
    this.manifest = manifest;
    this.byList = terms.map(({ vector }) => vector && codes && codes.products(vector));
    /** @type {Map<number, number>} */
    this.row = new Map();
    for (const list of nearby) for (const document of list.documents) this.row.set(document, this.row.size);
    this.byRow = terms.map(({ vector }) => vector && joined(nearby.map((list) => list.products(vector))));
  }

  /**
   * What a term would add for a document, as far as is known without its posting.
   * @param {number} term
   * @param {number} document
   */
  estimate(term, document) {
    const row = this.row.get(document);
    const [rows, lists] = [this.byRow[term], this.byList[term]];
    if (!rows || !lists) return 0;
    return row === undefined ? lists[this.manifest.listOfDocument(document)] : rows[row];
  }
}

/** @param {Float64Array[]} parts */
function joined(parts) {
  return Float64Array.from(parts.flatMap((part) => Array.from(part)));
}

/**
 * The least of the highest values, or the least positive number where there are not so many.
 * @param {Float64Array} values
 * @param {number} count
 */
export function leastOfBest(values, count) {
  const heap = new Float64Array(count);
  for (const value of values) {
    if (value <= heap[0]) continue;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= count) break;
      if (child + 1 < count && heap[child + 1] < heap[child]) child++;
      if (heap[child] >= value) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = value;
  }
  return Math.max(heap[0], Number.MIN_VALUE);
}
