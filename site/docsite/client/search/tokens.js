// @ts-check
// Words that nothing holds, cut into tokens of the model: each time the longest that fits (WordPiece), as the
// search in Python does.

import { withoutAccents } from "./analyze.js";
import { codesOf, floatsOf, named, numbersOf, wordsOf } from "./bytes.js";
import { TOKEN_DIRECTORY, TOKEN_SHARD, TOKEN_PROJECTION } from "./format.js";
import { namesOf, placeOf } from "./manifest.js";
import { Quantized, product } from "./semantic.js";
import { ShardVectors } from "./vectors.js";
/** @import { Store } from "./store.js" */

/**
 * `vector` has the index's numbers.
 * @typedef {{token: string, letters: number, length: number, vector: Float32Array}} Token
 *
 * What a shard knows of a token: `direction` has the model's numbers.
 * @typedef {{token: string, letters: number, length: number, direction: Float32Array}} Known
 */
/** @typedef {{names: string[], first: string[], longest: number, quantized: Quantized}} Directory */

const CONTINUATION = "##";
const UNKNOWN = "[UNK]";
// A query looks for tokens in so many shards; words that would need more stay unknown.
const MOST_SHARDS = 8;

/**
 * The names of the shards, and what each begins with.
 * @param {Uint8Array[]} columns
 * @param {number[][]} levels
 * @returns {Directory}
 */
function readDirectory(columns, levels) {
  const own = named(columns, TOKEN_DIRECTORY);
  return {
    names: namesOf(own.file_names),
    first: wordsOf(own.shard_shared, own.shard_size, own.shard_rest),
    longest: numbersOf(own.longest)[0],
    quantized: new Quantized(levels, floatsOf(own.mean), floatsOf(own.deviation), own.bits),
  };
}

/**
 * The directions of the index's numbers among the model's.
 * @param {Uint8Array[]} columns
 * @param {number} size how many numbers the model has
 */
function readProjection(columns, size) {
  const own = named(columns, TOKEN_PROJECTION);
  const vectors = new ShardVectors(own.vector_length, own.vector, size);
  return Array.from({ length: vectors.count }, (_, i) => vectors.vector(i) || new Float32Array(size));
}

/** Tokens that lie next to each other in the alphabet. */
class TokenShard {
  /**
   * @param {Uint8Array[]} columns
   * @param {Quantized} quantized
   */
  constructor(columns, quantized) {
    const own = named(columns, TOKEN_SHARD);
    this.tokens = wordsOf(own.token_shared, own.token_size, own.token_rest);
    this.lengths = new ShardVectors(own.vector_length, own.codes, 0);
    this.quantized = quantized;
    this.codes = codesOf(own.codes, quantized.widths, this.tokens.length);
  }

  /**
   * @param {string} token
   * @returns {Known | null}
   */
  find(token) {
    const place = placeOf(this.tokens, token);
    const length = this.tokens[place] === token ? this.lengths.length(place) : 0;
    if (!length) return null;
    const direction = this.quantized.numbers(this.codes, place);
    return { token, letters: lettersOf(token), length, direction };
  }
}

/** The tokens of the model, as far as one query may load them. */
export class Tokens {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    /** @type {Set<number>} */
    this.shards = new Set();
  }

  /**
   * Whether the model has a whole word.
   * @param {string} word
   * @returns {Promise<boolean>}
   */
  async hasWord(word) {
    return !!(await this.find(withoutAccents(word)));
  }

  /**
   * The tokens that a folded word is made of; the unknown one if there are none.
   * @param {string} word
   * @returns {Promise<Token[]>}
   */
  async of(word) {
    /** @type {Known[]} */
    const found = [];
    for (const part of withoutAccents(word).match(/[\p{L}\p{N}]+/gu) || []) {
      const letters = Array.from(part);
      for (let at = 0; at < letters.length;) {
        const token = await this.longest(letters.slice(at), at ? CONTINUATION : "");
        if (token) found.push(token);
        at += token ? token.letters : 1;
      }
    }
    if (found.length) return this.projected(found);
    const unknown = await this.find(UNKNOWN);
    return unknown ? this.projected([unknown]) : [];
  }

  /**
   * The same tokens with the index's numbers.
   * @param {Known[]} tokens
   * @returns {Promise<Token[]>}
   */
  async projected(tokens) {
    const projection = await this.store.part("token_projections", 0, (columns) =>
      readProjection(columns, tokens[0].direction.length),
    );
    return tokens.map(({ token, letters, length, direction }) => ({
      token,
      letters,
      length,
      vector: Float32Array.from(projection, (own) => product(own, direction) * length),
    }));
  }

  /**
   * The longest token that these letters begin with.
   * @param {string[]} letters
   * @param {string} mark
   * @returns {Promise<Known | null>}
   */
  async longest(letters, mark) {
    const most = (await this.directory())?.longest || 0;
    for (let end = Math.min(letters.length, most); end > 0; end--) {
      const token = await this.find(mark + letters.slice(0, end).join(""));
      if (token) return token;
    }
    return null;
  }

  /**
   * @param {string} token
   * @returns {Promise<Known | null>}
   */
  async find(token) {
    const directory = await this.directory();
    if (!directory) return null;
    const number = Math.max(0, placeOf(directory.first, token));
    if (!this.shards.has(number) && this.shards.size >= MOST_SHARDS) return null;
    this.shards.add(number);
    const shard = await this.store.named(
      "token_shards",
      directory.names[number],
      (columns) => new TokenShard(columns, directory.quantized),
    );
    return shard.find(token);
  }

  /** @returns {Promise<Directory | null>} */
  async directory() {
    const { names, dimensions, codeLevels } = this.store.manifest;
    return dimensions && names.token_directories.length
      ? this.store.part("token_directories", 0, (columns) => readDirectory(columns, codeLevels))
      : null;
  }
}

/**
 * How many letters of a word a token covers: what it counts among the word's tokens.
 * @param {string} token
 */
function lettersOf(token) {
  return token === UNKNOWN ? 1 : Array.from(token.replace(/^##/, "")).length;
}
