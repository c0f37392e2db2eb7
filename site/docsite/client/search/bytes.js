// @ts-check
// Bytes: out of a script's string, out of gzip, and into columns of numbers and words.

import { ESCAPE, ESCAPE_ITSELF, OTHERS, SURROGATES } from "./format.js";

/**
 * The bytes that a part's script hands over; quotes, line ends and halves of surrogate pairs stand escaped in
 * it.
 * @param {number} length
 * @param {string} packed
 * @returns {Uint8Array}
 */
export function unpacked(length, packed) {
  const bytes = new Uint8Array(length + 1);
  let at = 0;
  for (let i = 0; i < packed.length && at < length; i++) {
    let unit = packed.charCodeAt(i);
    if (unit === ESCAPE) {
      unit = packed.charCodeAt(++i);
      unit =
        unit === ESCAPE_ITSELF
          ? ESCAPE
          : unit < SURROGATES + 0x800
            ? unit - SURROGATES + 0xd800
            : unit - OTHERS;
    }
    bytes[at++] = unit & 255;
    bytes[at++] = unit >> 8;
  }
  return bytes.subarray(0, length);
}

/**
 * What gzip holds; rejects where a byte is wrong or missing.
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>}
 */
export async function inflated(bytes) {
  const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream();
  const plain = stream.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/**
 * The columns of a file, whose number and lengths stand first.
 * @param {Uint8Array} bytes
 * @returns {Uint8Array[]}
 */
export function columnsOf(bytes) {
  const reader = { bytes, at: 0 };
  const sizes = Array.from({ length: nextNumber(reader) }, () => nextNumber(reader));
  return sizes.map((size) => bytes.subarray(reader.at, (reader.at += size)));
}

/**
 * The columns of a file by the names that the format gives them.
 * @template {string} Name
 * @param {Uint8Array[]} columns
 * @param {readonly Name[]} names
 * @returns {Record<Name, Uint8Array>}
 */
export function named(columns, names) {
  const found = /** @type {Record<Name, Uint8Array>} */ ({});
  names.forEach((name, i) => (found[name] = columns[i]));
  return found;
}

/**
 * @param {{bytes: Uint8Array, at: number}} reader
 * @returns {number}
 */
function nextNumber(reader) {
  let value = 0;
  for (let shift = 1; ; shift *= 128) {
    const byte = reader.bytes[reader.at++];
    value += (byte & 127) * shift;
    if (byte < 128) return value;
  }
}

/**
 * Numbers of seven bits a byte, the lowest first.
 * @param {Uint8Array} bytes
 * @returns {Int32Array}
 */
export function numbersOf(bytes) {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] < 128) count++;
  const values = new Int32Array(count);
  for (let i = 0, at = 0, value = 0, shift = 0; i < bytes.length; i++) {
    value |= (bytes[i] & 127) << shift;
    shift += 7;
    if (bytes[i] < 128) {
      values[at++] = value;
      value = shift = 0;
    }
  }
  return values;
}

/**
 * Words in order; each says how many bytes it shares with the one before.
 * @param {Uint8Array} shared
 * @param {Uint8Array} sizes
 * @param {Uint8Array} rest
 * @returns {string[]}
 */
export function wordsOf(shared, sizes, rest) {
  const decoder = new TextDecoder();
  const kept = numbersOf(shared);
  const buffer = new Uint8Array(4096);
  let at = 0;
  return Array.from(numbersOf(sizes), (size, i) => {
    buffer.set(rest.subarray(at, (at += size)), kept[i]);
    return decoder.decode(buffer.subarray(0, kept[i] + size));
  });
}

/**
 * @param {Uint8Array} bytes
 * @returns {Float32Array}
 */
export function floatsOf(bytes) {
  return new Float32Array(bytes.slice().buffer);
}

/**
 * @param {Uint8Array} bytes
 * @returns {any}
 */
export function valueOf(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * Rows of codes, `widths[i]` bits in column `i`, lowest bit first; a row ends with its byte.
 * @param {Uint8Array} bytes
 * @param {Uint8Array} widths
 * @param {number} rows
 * @returns {Uint8Array}
 */
export function codesOf(bytes, widths, rows) {
  const size = Math.ceil(widths.reduce((sum, width) => sum + width, 0) / 8);
  const codes = new Uint8Array(rows * widths.length);
  for (let row = 0, to = 0; row < rows; row++) {
    for (let i = 0, bit = row * size * 8; i < widths.length; i++, to++) {
      for (let each = 0; each < widths[i]; each++, bit++) {
        codes[to] |= ((bytes[bit >> 3] >> (bit & 7)) & 1) << each;
      }
    }
  }
  return codes;
}
