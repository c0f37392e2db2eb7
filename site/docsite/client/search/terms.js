// @ts-check
// Term shards: words that lie next to each other in the alphabet, with all that ranking needs of them.

/** @typedef {{file: number, place: number, size: number}} Tail */

/**
 * A term as the index knows it. A level of its postings stands for an impact (BM25F's score) and for a kinship
 * (what the term adds to the cosine, times the length of the query's vector).
 * @typedef {{term: string, idf: number, frequency: number, documents: number, impact: Float64Array,
 *   kinship: Float64Array, length: number, vector: Float32Array | null, tails: Tail[], place: number,
 *   shard: Shard}} Term
 */

const LENGTH_STEPS = 256;
const VECTOR_LEVELS = 7;
const LEAST_DOCUMENTS = 2;

class Shard {
  /**
   * @param {Uint8Array[]} columns
   * @param {Manifest} manifest
   */
  constructor(columns, manifest) {
    this.manifest = manifest;
    this.words = wordsOf(columns[0], columns[1], columns[2]);
    this.frequencies = numbersOf(columns[3]);
    this.documents = numbersOf(columns[4]);
    this.impacts = columns[5];
    this.kinships = new Int8Array(columns[6].slice().buffer);
    this.lengths = columns[7];
    this.vectors = columns[8];
    this.tails = tailsOf(numbersOf(columns[9]));
    /** @type {Map<string, string[]>} */
    this.aliases = new Map(valueOf(columns[10]).map((/** @type {string[]} */ [word, ...terms]) => [word, terms]));
    this.block = new Block(columns.slice(11, 11 + POSTING_COLUMNS));
    const withVector = Int32Array.from(this.documents, (count) => (count >= LEAST_DOCUMENTS ? 1 : 0));
    this.vectorPlace = summed(withVector);
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
    const steps = this.lengths[place] + 256 * this.lengths[place + count];
    const length = 2 ** (steps / LENGTH_STEPS - 32);
    const best = (idf * manifest.ceiling) / 255;
    return {
      term: this.words[place],
      idf,
      frequency: this.frequencies[place],
      documents: this.documents[place],
      impact: scale(this.impacts[place] * best, this.impacts[place + count] * best, manifest.levels),
      kinship: scale(
        (this.kinships[place] * length) / 127,
        (this.kinships[place + count] * length) / 127,
        manifest.levels,
      ),
      length: manifest.dimensions ? length : 0,
      vector: this.vector(place, length),
      tails: this.tails.get(place) || [],
      place,
      shard: this,
    };
  }

  /**
   * @param {number} place
   * @param {number} length
   * @returns {Float32Array | null}
   */
  vector(place, length) {
    const { dimensions } = this.manifest;
    if (!dimensions || this.documents[place] < LEAST_DOCUMENTS) return null;
    const rows = this.vectorPlace[this.words.length];
    const row = this.vectorPlace[place];
    const step = ((this.vectors[row] / 255) * length) / VECTOR_LEVELS;
    const size = Math.ceil(dimensions / 2);
    const found = new Float32Array(dimensions);
    for (let i = 0; i < dimensions; i++) {
      const byte = this.vectors[rows + row * size + (i >> 1)];
      found[i] = ((i & 1 ? byte >> 4 : byte & 15) - 8) * step;
    }
    return found;
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
  for (let at = 0; at < numbers.length; ) {
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
