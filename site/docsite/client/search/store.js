// @ts-check
// The files that were read so far, by what they hold.

import { named, valueOf } from "./bytes.js";
import { readExcerpts } from "./excerpts.js";
import { EXCERPT_PASSAGES, SYNONYMS } from "./format.js";
import { Facets } from "./facets.js";
/** @import { FAMILIES } from "./format.js" */
import { placeOf } from "./manifest.js";
import { Shard, termIn } from "./terms.js";
import { readWords } from "./words.js";
/** @import { Shown } from "./excerpts.js" */
/** @import { Manifest, Segment } from "./manifest.js" */
/** @import { Parts } from "./parts.js" */
/** @import { Term } from "./terms.js" */
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
   * The shards that would hold a term, one of each segment that has any.
   * @param {string} term
   * @returns {Promise<Shard[]>}
   */
  shards(term) {
    const filled = this.manifest.segments.filter(({ firstTerms }) => firstTerms.length);
    return Promise.all(filled.map((each) => this.shard(each, Math.max(0, placeOf(each.firstTerms, term)))));
  }

  /**
   * Whether the shards that would hold a term were read.
   * @param {string} term
   */
  hasRead(term) {
    return this.manifest.segments.every(({ family, firstTerms }) => {
      const name = this.manifest.names[family][Math.max(0, placeOf(firstTerms, term))];
      return !firstTerms.length || this.read.has(`${family} ${name}`);
    });
  }

  /**
   * Loads the shards of all terms that begin so, where that is one of each segment, and tells whether it is.
   * @param {string} prefix
   */
  async begin(prefix) {
    const only = this.manifest.segments.flatMap((segment) => {
      const number = placeOf(segment.firstTerms, prefix);
      return number < 0 || segment.firstTerms[number + 1]?.startsWith(prefix) ? [] : [{ segment, number }];
    });
    await Promise.all(only.map(({ segment, number }) => this.shard(segment, number)));
    return only.length === this.manifest.segments.filter(({ firstTerms }) => firstTerms.length).length;
  }

  /**
   * @param {Segment} segment
   * @param {number} number
   * @returns {Promise<Shard>}
   */
  shard(segment, number) {
    return this.part(segment.family, number, (columns) => new Shard(columns, this.manifest, segment));
  }

  /**
   * @param {string} term
   * @returns {Promise<Term | null>}
   */
  async term(term) {
    return termIn(term, await this.shards(term), this.manifest);
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
