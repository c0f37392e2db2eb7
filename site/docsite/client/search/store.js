// @ts-check
// The files that were read so far, by what they hold.

import { named, valueOf } from "./bytes.js";
import { readExcerpts } from "./excerpts.js";
import { EXCERPT_PASSAGES, SYNONYMS } from "./format.js";
import { Facets } from "./facets.js";
/** @import { FAMILIES } from "./format.js" */
import { placeOf } from "./manifest.js";
import { Shard } from "./terms.js";
import { readWords } from "./words.js";
/** @import { Shown } from "./excerpts.js" */
/** @import { Manifest } from "./manifest.js" */
/** @import { Parts } from "./parts.js" */
/** @import { Words } from "./words.js" */

/** @typedef {typeof FAMILIES[number]} Family */

export class Store {
  /**
   * @param {Parts} parts
   * @param {Manifest} manifest
   */
  constructor(parts, manifest) {
    this.parts = parts;
    this.manifest = manifest;
    /** @type {Map<string, any>} */
    this.read = new Map();
  }

  /**
   * What a file that the manifest names holds, read once.
   * @template T
   * @param {Family} family
   * @param {number} number
   * @param {(columns: Uint8Array[]) => T} reader
   * @returns {Promise<T>}
   */
  part(family, number, reader) {
    return this.named(family, this.manifest.names[family][number], reader);
  }

  /**
   * What a file of this name holds, read once.
   * @template T
   * @param {string} family
   * @param {string} name
   * @param {(columns: Uint8Array[]) => T} reader
   * @returns {Promise<T>}
   */
  async named(family, name, reader) {
    const key = `${family} ${name}`;
    if (!this.read.has(key)) {
      const columns = await this.parts.load(name);
      if (!this.read.has(key)) this.read.set(key, reader(columns));
    }
    return this.read.get(key);
  }

  /**
   * The shard that would hold a term, or null where there are none.
   * @param {string} term
   * @returns {Promise<Shard | null>}
   */
  async shard(term) {
    if (!this.manifest.firstTerms.length) return null;
    return this.part(
      "term_shards",
      this.manifest.shardOf(term),
      (columns) => new Shard(columns, this.manifest),
    );
  }

  /**
   * The glossary; an empty one where the index has none.
   * @returns {Promise<Map<string, string[]>>}
   */
  async synonyms() {
    if (!this.manifest.names.synonyms.length) return new Map();
    return this.part(
      "synonyms",
      0,
      (columns) => new Map(Object.entries(valueOf(named(columns, SYNONYMS).synonyms))),
    );
  }

  /** @returns {Promise<Facets>} */
  facets() {
    return this.part("facets", 0, (columns) => new Facets(columns));
  }

  /**
   * @param {string} word
   * @returns {Promise<Words | null>}
   */
  async words(word) {
    const number = word ? this.manifest.wordFileOf(word) : -1;
    return number < 0 ? null : this.part("words", number, readWords);
  }

  /**
   * What there is to show of a document around one of its passages.
   * @param {number} document
   * @param {number} ordinal
   * @returns {Promise<Shown>}
   */
  async shown(document, ordinal) {
    const { excerptSharing, groupStarts, names } = this.manifest;
    const group = placeOf(groupStarts, document);
    const piece = Math.floor(Math.max(0, ordinal) / EXCERPT_PASSAGES);
    const within = (document - groupStarts[group]) % excerptSharing;
    const place = (document - groupStarts[group] - within).toString(16).padStart(2, "0");
    const name = `${names.excerpt_groups[group]}${place}${piece.toString(16)}`;
    const all = await this.named("excerpts", name, (columns) =>
      readExcerpts(columns, piece * EXCERPT_PASSAGES),
    );
    return all[within];
  }
}
