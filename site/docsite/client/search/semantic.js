// @ts-check
// Documents by meaning: the lists nearest to a query, and products of vectors with what is known of
// documents.

import { codesOf, floatsOf, named, numbersOf } from "./bytes.js";
import { INVERTED_LIST, MANIFEST_VECTORS } from "./format.js";

/** What a vector adds to a query's. @typedef {{vector: Float32Array | null, length: number}} QueryPart */

/** Rows of numbers, each written in a few bits: around a mean, in units of a deviation. */
export class Quantized {
  /**
   * @param {number[][]} levels
   * @param {Float32Array | null} mean
   * @param {Float32Array} deviation
   * @param {Uint8Array} widths
   */
  constructor(levels, mean, deviation, widths) {
    this.mean = mean || new Float32Array(widths.length);
    this.deviation = deviation;
    this.widths = widths;
    this.steps = levels.map((half) => Float64Array.from([...half.map((x) => -x).reverse(), ...half]));
    this.steps[0] = Float64Array.of(0);
  }

  /**
   * The product of a vector with every row of codes.
   * @param {Float32Array} vector
   * @param {Uint8Array} codes
   * @returns {Float64Array}
   */
  products(vector, codes) {
    const count = vector.length;
    const tables = Array.from(this.widths, (width, i) =>
      this.steps[width].map((step) => (this.mean[i] + step * this.deviation[i]) * vector[i]),
    );
    const found = new Float64Array(codes.length / count);
    for (let row = 0, at = 0; row < found.length; row++) {
      let sum = 0;
      for (let i = 0; i < count; i++) sum += tables[i][codes[at++]];
      found[row] = sum;
    }
    return found;
  }

  /**
   * The numbers of one row.
   * @param {Uint8Array} codes
   * @param {number} row
   */
  numbers(codes, row) {
    const { widths, steps, mean, deviation } = this;
    const from = row * widths.length;
    return Float32Array.from(widths, (width, i) => mean[i] + steps[width][codes[from + i]] * deviation[i]);
  }
}

/** What the manifest knows of all lists. */
export class Codes {
  /**
   * @param {number[][]} levels
   * @param {number} lists
   * @param {Record<typeof MANIFEST_VECTORS[number], Uint8Array>} own
   */
  constructor(levels, lists, own) {
    this.coarse = new Quantized(
      levels,
      floatsOf(own.centroid_mean),
      floatsOf(own.centroid_deviation),
      own.centroid_bits,
    );
    this.fine = new Quantized(levels, null, floatsOf(own.residual_deviation), own.residual_bits);
    this.centroids = codesOf(own.centroid_codes, own.centroid_bits, lists);
  }

  /**
   * The product of a vector with the centroid of every list.
   * @param {Float32Array} vector
   */
  products(vector) {
    return this.coarse.products(vector, this.centroids);
  }
}

/** One list: its documents, and codes of what their vectors differ by from its centroid. */
export class InvertedList {
  /**
   * @param {Uint8Array[]} columns
   * @param {Codes} codes
   */
  constructor(columns, codes) {
    const own = named(columns, INVERTED_LIST);
    this.codes = codes;
    this.documents = numbersOf(own.document_gap);
    for (let i = 1; i < this.documents.length; i++) this.documents[i] += this.documents[i - 1] + 1;
    const [unit] = floatsOf(own.centroid_unit);
    this.centroid = Float32Array.from(new Int8Array(own.centroid.slice().buffer), (level) => level * unit);
    this.rows = codesOf(own.residual_codes, codes.fine.widths, this.documents.length);
  }

  /**
   * The product of a vector with each document of the list.
   * @param {Float32Array} vector
   */
  products(vector) {
    const around = product(vector, this.centroid);
    return this.codes.fine.products(vector, this.rows).map((part) => around + part);
  }
}

/**
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
export function product(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * The sum of the terms' vectors, and the length that it would have with all their numbers.
 * @param {QueryPart[]} terms
 * @param {number} dimensions
 */
export function queryVector(terms, dimensions) {
  const sum = new Float32Array(dimensions);
  let cut = 0;
  for (const { vector, length } of terms) {
    cut += length * length;
    for (let i = 0; vector && i < dimensions; i++) sum[i] += vector[i];
    if (vector) cut -= Math.min(length * length, product(vector, vector));
  }
  return { sum, length: Math.sqrt(product(sum, sum) + cut) };
}

/**
 * The numbers of the lists nearest to a query, nearest first.
 * @param {Float64Array} products
 * @param {number} count
 * @returns {number[]}
 */
export function nearestLists(products, count) {
  const order = Array.from(products.keys()).sort((a, b) => products[b] - products[a] || a - b);
  return order.slice(0, count);
}
