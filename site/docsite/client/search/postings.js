// @ts-check
// Postings: in which documents and passages a term stands, and what it adds to their scores.

/**
 * Pair `p` is a document with its kinship; its passages are `starts[p]` to `starts[p + 1]` of the columns of rows:
 * ordinals, impacts, and by how many steps a passage's kinship is another than its document's.
 * @typedef {{documents: Int32Array, kinships: Uint8Array, starts: Int32Array, ordinals: Int32Array, impacts: Uint8Array,
 *   own: Int8Array}} PostingList
 */

const POSTING_COLUMNS = 7;

class Block {
  /** @param {Uint8Array[]} columns those of a file that holds posting lists, as they are */
  constructor(columns) {
    this.columns = columns;
    /** @type {PostingList | null} */
    this.all = null;
    /** @type {Int32Array} */
    this.firstPair = new Int32Array(0);
  }

  /**
   * A list by its place in the file.
   * @param {number} place
   * @returns {PostingList}
   */
  list(place) {
    this.all = this.all || this.read();
    const { documents, kinships, starts, ordinals, impacts, own } = this.all;
    const first = this.firstPair[place];
    const end = this.firstPair[place + 1];
    const [from, to] = [starts[first], starts[end]];
    return {
      documents: documents.subarray(first, end),
      kinships: kinships.subarray(first, end),
      starts: starts.subarray(first, end + 1).map((start) => start - from),
      ordinals: ordinals.subarray(from, to),
      impacts: impacts.subarray(from, to),
      own: own.subarray(from, to),
    };
  }

  /** @returns {PostingList} */
  read() {
    const [sizes, gaps, more, steps] = this.columns.slice(0, 4).map(numbersOf);
    const [impacts, kinships, changes] = this.columns.slice(4);
    this.firstPair = summed(sizes);
    const starts = summed(more.map((count) => count + 1));
    for (let pair = 0; pair < gaps.length; pair++) {
      for (let at = starts[pair] + 1; at < starts[pair + 1]; at++) steps[at] += steps[at - 1] + 1;
    }
    const own = Int8Array.from(changes, (step) => (step & 1 ? -(step + 1) / 2 : step / 2));
    for (let list = 0; list < sizes.length; list++) {
      for (let pair = this.firstPair[list] + 1; pair < this.firstPair[list + 1]; pair++) {
        gaps[pair] += gaps[pair - 1] + 1;
      }
    }
    return { documents: gaps, kinships, starts, ordinals: steps, impacts, own };
  }
}
