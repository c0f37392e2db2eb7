// @ts-check
// Ranking: the scores of passages, the documents that they make, in order. Nothing here loads anything.

/**
 * A term of a query with the postings that were loaded; of terms in one `group` a passage counts the best only.
 * @typedef {{term: Term, lists: PostingList[], weight: number, group: number}} Asked
 *
 * What a query comes to: `allowed` says which documents may be found, `banned` are terms that no hit may hold.
 * @typedef {{asked: Asked[], banned: PostingList[][], nearby: List[],
 *   allowed: ((document: number) => boolean) | null}} Question
 *
 * @typedef {{ordinal: number, score: number, keyword: number, semantic: number}} Passage
 *
 * A document, its passages best first, and what its score consists of.
 * @typedef {{document: number, score: number, links: number, support: number, passages: Passage[]}} Ranked
 *
 * @typedef {{ranked: Ranked[], matching: Int32Array}} Ranks
 */

// A passage of several is not quite its document: what the mix of their cosines is of the document's, on average, and
// what the passage's own cosine is of the mix.
const TYPICAL_MIX = 0.955;
const TYPICAL_ALONE = 0.89;
// A document is counted as a match from this share of the query's weight on.
const LEAST_SHARE = 0.5;

/**
 * The documents that answer a question best.
 * @param {Question} question
 * @param {Manifest} manifest
 * @returns {Ranks}
 */
function rank(question, manifest) {
  const slots = new Slots(question, manifest);
  const meanings = new Meanings(question, manifest);
  const most = addWords(slots, question);
  addKinships(slots, question, meanings, manifest);
  ban(slots, question);
  return { ranked: documentsOf(slots, meanings, most, manifest), matching: matching(slots, question) };
}

/** A place for every passage that a query touches; a document's passages lie next to each other. */
class Slots {
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
    this.semantic = new Float64Array(size);
    // What the document is worth to a passage that holds none of the words.
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

/** Products of the terms' vectors with documents: of those in the lists that were loaded, else of an average one. */
class Meanings {
  /**
   * @param {Question} question
   * @param {Manifest} manifest
   */
  constructor({ asked, nearby }, { codes, dimensions }) {
    const terms = asked.map(({ term }) => term);
    this.length = Math.max(queryVector(terms, dimensions).length, 1e-9);
    this.average = terms.map(({ vector }) => (vector && codes ? mean(codes.products(vector)) : 0));
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
    const rows = this.byRow[term];
    return row !== undefined && rows ? rows[row] : this.average[term];
  }
}

/** @param {Float64Array} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param {Float64Array[]} parts */
function joined(parts) {
  return Float64Array.from(parts.flatMap((part) => Array.from(part)));
}

/**
 * Adds up the scores of words, and says the most that they could come to.
 * @param {Slots} slots
 * @param {Question} question
 * @returns {number}
 */
function addWords(slots, { asked }) {
  /** @type {Map<number, number>} */
  const most = new Map();
  for (const { term, lists, weight, group } of asked) {
    const alone = asked.filter((other) => other.group === group).length === 1;
    const top = weight * term.impact[term.impact.length - 1];
    most.set(group, Math.max(most.get(group) || 0, top));
    if (!alone) continue;
    for (const list of lists) {
      slots.forEach(list, (_, place, row) => (slots.keyword[place] += weight * term.impact[list.impacts[row]]));
    }
  }
  for (const group of most.keys()) addBest(slots, asked.filter((each) => each.group === group));
  return [...most.values()].reduce((sum, value) => sum + value, 0) || 1;
}

/**
 * Of several terms that stand for one word, each passage counts the best.
 * @param {Slots} slots
 * @param {Asked[]} same
 */
function addBest(slots, same) {
  if (same.length < 2) return;
  const best = new Float64Array(slots.keyword.length);
  for (const { term, lists, weight } of same) {
    for (const list of lists) {
      slots.forEach(list, (_, place, row) => {
        best[place] = Math.max(best[place], weight * term.impact[list.impacts[row]]);
      });
    }
  }
  for (let place = 0; place < best.length; place++) slots.keyword[place] += best[place];
}

/**
 * The cosine part of every passage: what postings say exactly, and an estimate for the terms that it lacks.
 * @param {Slots} slots
 * @param {Question} question
 * @param {Meanings} meanings
 * @param {Manifest} manifest
 */
function addKinships(slots, { asked }, meanings, manifest) {
  if (!manifest.dimensions) return;
  const { around, documents, semantic, single, starts } = slots;
  const guessed = (/** @type {number} */ term, /** @type {number} */ slot) =>
    (single[slot] ? 1 : TYPICAL_MIX) * meanings.estimate(term, documents[slot]);
  for (let term = 0; term < asked.length; term++) {
    for (let slot = 0; slot < documents.length; slot++) around[slot] += guessed(term, slot) / meanings.length;
  }
  const mean = new Float64Array(documents.length);
  asked.forEach(({ term, lists }, number) => {
    for (const list of lists) {
      for (let pair = 0; pair < list.documents.length; pair++) {
        const slot = slots.of[list.documents[pair]];
        if (slot < 0) continue;
        let sum = 0;
        for (let row = list.starts[pair]; row < list.starts[pair + 1]; row++) sum += term.kinship[list.kinships[row]];
        mean[slot] = sum / (list.starts[pair + 1] - list.starts[pair]);
        around[slot] += (mean[slot] - guessed(number, slot)) / meanings.length;
      }
      slots.forEach(list, (slot, place, row) => {
        semantic[place] += (term.kinship[list.kinships[row]] - mean[slot]) / meanings.length;
      });
    }
  });
  for (let slot = 0; slot < documents.length; slot++) {
    for (let place = starts[slot]; place < starts[slot + 1]; place++) semantic[place] += around[slot];
  }
}

/**
 * @param {Slots} slots
 * @param {Question} question
 */
function ban(slots, { banned }) {
  for (const lists of banned) {
    for (const list of lists) {
      slots.forEach(list, (slot, place) => {
        slots.banned[place] = 1;
        slots.around[slot] = 0;
      });
    }
  }
}

/**
 * The candidates of both lists, scored, and made into documents.
 * @param {Slots} slots
 * @param {Meanings} meanings
 * @param {number} most
 * @param {Manifest} manifest
 * @returns {Ranked[]}
 */
function documentsOf(slots, meanings, most, manifest) {
  const { candidates, keyword, passage, document } = manifest.ranking;
  const meaning = manifest.dimensions ? passage + document : 0;
  const total = keyword + meaning || 1;
  const words = leastOfBest(slots.keyword, candidates);
  const alone = aloneOf(slots, passage / (meaning || 1));
  const near = leastOfBest(alone, candidates);
  /** @type {Ranked[]} */
  const found = [];
  for (let slot = 0; slot < slots.documents.length; slot++) {
    /** @type {Passage[]} */
    const passages = [];
    const take = (/** @type {number} */ ordinal, /** @type {number} */ score, /** @type {number} */ cosine) => {
      const part = [(keyword * score) / most / total, (meaning * Math.max(0, cosine)) / total];
      passages.push({ ordinal, score: part[0] + part[1], keyword: part[0], semantic: part[1] });
    };
    for (let place = slots.starts[slot]; place < slots.starts[slot + 1]; place++) {
      const [score, cosine] = [slots.keyword[place], slots.semantic[place]];
      if (slots.banned[place] || !score || (score < words && alone[place] < near)) continue;
      take(place - slots.starts[slot], score, cosine);
    }
    const untouched = slots.starts[slot] === slots.starts[slot + 1];
    if (untouched && slots.around[slot] > 0 && alone[slots.semantic.length + slot] >= near) {
      take(-1, 0, slots.around[slot]);
    }
    if (passages.length) found.push(documentOf(slots.documents[slot], passages, manifest));
  }
  return found.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.document - b.document);
}

/**
 * The cosine of every passage by itself, without its document's, and after them that of a passage of each document
 * that holds none of the words.
 * @param {Slots} slots
 * @param {number} share of a passage in a mix of both
 * @returns {Float64Array}
 */
function aloneOf({ semantic, around, single, starts }, share) {
  const found = new Float64Array(semantic.length + around.length);
  for (let slot = 0; slot < around.length; slot++) {
    const usual = (single[slot] ? 1 : TYPICAL_ALONE) * around[slot];
    found[semantic.length + slot] = usual;
    for (let place = starts[slot]; place < starts[slot + 1]; place++) {
      found[place] = usual + (share && !single[slot] ? (semantic[place] - around[slot]) / share : 0);
    }
  }
  return found;
}

/**
 * A document is worth its best passage, more where a second confirms it and where others link to it.
 * @param {number} document
 * @param {Passage[]} passages
 * @param {Manifest} manifest
 * @returns {Ranked}
 */
function documentOf(document, passages, manifest) {
  passages.sort((a, b) => b.score - a.score || a.ordinal - b.ordinal);
  const best = passages[0].score;
  const alone = manifest.isSingle(document) || passages[0].ordinal < 0;
  const second = alone ? best : passages.length > 1 ? passages[1].score : 0;
  const support = 1 + (manifest.ranking.support * second) / (best || 1);
  const links = manifest.linkFactor(document);
  return { document, score: best * support * links, links, support, passages };
}

/**
 * The least of the highest values, or the least positive number where there are not so many.
 * @param {Float64Array} values
 * @param {number} count
 */
function leastOfBest(values, count) {
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

/**
 * The documents that hold at least half of what the query says, by the rarity of its words.
 * @param {Slots} slots
 * @param {Question} question
 * @returns {Int32Array}
 */
function matching(slots, { asked }) {
  const covered = new Float64Array(slots.documents.length);
  const total = asked.reduce((sum, { term }) => sum + term.idf, 0);
  for (const { term, lists } of asked) {
    for (const { documents } of lists) {
      for (const document of documents) {
        if (slots.of[document] >= 0) covered[slots.of[document]] += term.idf;
      }
    }
  }
  return slots.documents.filter((_, slot) => covered[slot] > 0 && covered[slot] >= LEAST_SHARE * total);
}
