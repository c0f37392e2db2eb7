// @ts-check
// Postings: in which documents and passages a term stands, and what it adds to their scores.

import { numbersOf } from "./bytes.js";
/** @import { POSTINGS } from "./format.js" */
import { summed } from "./manifest.js";

/**
 * Pair `p` is a document with its contribution; its passages are `starts[p]` to `starts[p + 1]` of the
 * columns of rows: ordinals, impacts, and by how many steps a passage's contribution differs from its
 * document's.
 * @typedef {{documents: Int32Array, contributions: Uint8Array, starts: Int32Array, ordinals: Int32Array,
 *   impacts: Uint8Array, changes: Int8Array}} Postings
 *
 * What each level of a term's postings stands for: an impact (BM25F's score) and a contribution (what the
 * term
 * adds to the cosine, times the length of the query's vector); `step` is that of changes.
 * @typedef {{impact: Float64Array, contribution: Float64Array, step: number}} Levels
 *
 * @typedef {Postings & {levels: Levels}} PostingList
 */

export class Block {
  /** @param {Record<typeof POSTINGS[number], Uint8Array>} columns */
  constructor(columns) {
    this.columns = columns;
    /** @type {Postings | null} */
    this.all = null;
    /** @type {Int32Array} */
    this.firstPair = new Int32Array(0);
  }

  /**
   * A list by its place in the file.
   * @param {number} place
   * @returns {Postings}
   */
  list(place) {
    this.all = this.all || this.read();
    const { documents, contributions, starts, ordinals, impacts, changes } = this.all;
    const first = this.firstPair[place];
    const end = this.firstPair[place + 1];
    const [from, to] = [starts[first], starts[end]];
    return {
      documents: documents.subarray(first, end),
      contributions: contributions.subarray(first, end),
      starts: starts.subarray(first, end + 1).map((start) => start - from),
      ordinals: ordinals.subarray(from, to),
      impacts: impacts.subarray(from, to),
      changes: changes.subarray(from, to),
    };
  }

  /** @returns {Postings} */
  read() {
    const { columns } = this;
    const sizes = numbersOf(columns.list_documents);
    const gaps = numbersOf(columns.document_gap);
    const more = numbersOf(columns.more_passages);
    const steps = numbersOf(columns.ordinal_gap);
    this.firstPair = summed(sizes);
    const starts = summed(more.map((count) => count + 1));
    for (let pair = 0; pair < gaps.length; pair++) {
      for (let at = starts[pair] + 1; at < starts[pair + 1]; at++) steps[at] += steps[at - 1] + 1;
    }
    const changes = Int8Array.from(columns.contribution_change, (step) =>
      step & 1 ? -(step + 1) / 2 : step / 2,
    );
    for (let list = 0; list < sizes.length; list++) {
      for (let pair = this.firstPair[list] + 1; pair < this.firstPair[list + 1]; pair++) {
        gaps[pair] += gaps[pair - 1] + 1;
      }
    }
    return {
      documents: gaps,
      contributions: columns.contribution,
      starts,
      ordinals: steps,
      impacts: columns.impact,
      changes,
    };
  }
}

/**
 * A list with the numbers that documents have now, without those that are gone.
 * @param {PostingList} list
 * @param {Int32Array | null} numbers by the list's own; -1 for those that are gone; null where they are
 * the same
 * @returns {PostingList}
 */
export function renumbered(list, numbers) {
  if (!numbers) return list;
  const kept = Array.from(list.documents.keys()).filter((pair) => numbers[list.documents[pair]] >= 0);
  const documents = Int32Array.from(kept, (pair) => numbers[list.documents[pair]]);
  if (kept.length === list.documents.length) return { ...list, documents };
  const rows = kept.flatMap((pair) =>
    Array.from({ length: list.starts[pair + 1] - list.starts[pair] }, (_, at) => list.starts[pair] + at),
  );
  return {
    ...list,
    documents,
    contributions: Uint8Array.from(kept, (pair) => list.contributions[pair]),
    starts: summed(Int32Array.from(kept, (pair) => list.starts[pair + 1] - list.starts[pair])),
    ordinals: Int32Array.from(rows, (row) => list.ordinals[row]),
    impacts: Uint8Array.from(rows, (row) => list.impacts[row]),
    changes: Int8Array.from(rows, (row) => list.changes[row]),
  };
}
