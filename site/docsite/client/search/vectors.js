// @ts-check
// The vectors of a shard's terms or tokens: four bits a number, and a length; some have none.

import { LENGTH_OFFSET, LENGTH_STEPS, VECTOR_LEVELS } from "./format.js";
import { summed } from "./manifest.js";

export class ShardVectors {
  /**
   * @param {Uint8Array} lengths
   * @param {Uint8Array} vectors
   * @param {number} dimensions
   */
  constructor(lengths, vectors, dimensions) {
    this.count = lengths.length / 2;
    this.lengths = lengths;
    this.vectors = vectors;
    this.dimensions = dimensions;
    const own = Int32Array.from({ length: this.count }, (_, place) =>
      dimensions && this.steps(place) ? 1 : 0,
    );
    this.rows = summed(own);
  }

  /**
   * The length of a vector, in steps; 0 where there is none.
   * @param {number} place
   */
  steps(place) {
    return this.lengths[place] + 256 * this.lengths[place + this.count];
  }

  /** @param {number} place */
  length(place) {
    const steps = this.steps(place);
    return steps ? 2 ** (steps / LENGTH_STEPS - LENGTH_OFFSET) : 0;
  }

  /**
   * @param {number} place
   * @returns {Float32Array | null}
   */
  vector(place) {
    const { dimensions } = this;
    const length = this.length(place);
    if (!length) return null;
    const rows = this.rows[this.count];
    const row = this.rows[place];
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
