// @ts-check
// Facets: what each document is (its tags, language and so on), to filter by and to count.

import { named, numbersOf, valueOf } from "./bytes.js";
import { FACETS } from "./format.js";

/** @typedef {"collection" | "language" | "section" | "community" | "tag" | "date"} Kind */
/** @typedef {{value: string | number, label?: string, count: number}} Count */

export const MS_A_DAY = 86_400_000;

/** The year of a day counted from 1970, which is day 1; 0 where none is known. @param {number} day */
const yearOf = (day) => (day ? new Date((day - 1) * MS_A_DAY).getUTCFullYear() : 0);

export class Facets {
  /** @param {Uint8Array[]} columns */
  constructor(columns) {
    const own = named(columns, FACETS);
    const names = valueOf(own.names);
    /** @type {Record<Kind, (string | number)[]>} */
    this.values = { ...names, community: names.community.map((/** @type {any[]} */ each) => each[0]) };
    /** @type {Map<number, string>} */
    this.labels = new Map(names.community);
    const [collection, language, section, community] = [
      own.collection,
      own.language,
      own.section,
      own.community,
    ].map(numbersOf);
    // Days since 1970, and 1; 0 where none is known.
    this.days = numbersOf(own.modified);
    const years = Array.from(this.days, yearOf);
    this.values.date = Array.from(new Set(years))
      .filter(Boolean)
      .sort((a, b) => b - a);
    const placeOf = new Map(this.values.date.map((year, place) => [year, place]));
    /** @type {Record<Kind, (document: number) => ArrayLike<number>>} */
    this.of = {
      collection: (document) => [collection[document]],
      language: (document) => [language[document]],
      section: (document) => [section[document]],
      community: (document) => (community[document] ? [community[document] - 1] : []),
      tag: (document) => this.tags.subarray(this.firstTag[document] + 1, this.firstTag[document + 1]),
      date: (document) => (years[document] ? [placeOf.get(years[document]) ?? 0] : []),
    };
    this.tags = numbersOf(own.tags);
    // Places in reading order, from 1; 0 for what no search finds.
    this.reading = numbersOf(own.reading).map((step) => (step >> 1) ^ -(step & 1));
    for (let i = 1; i < this.reading.length; i++) this.reading[i] += this.reading[i - 1];
    this.firstTag = new Int32Array(collection.length + 1);
    for (let i = 0; i < collection.length; i++) {
      this.firstTag[i + 1] = this.firstTag[i] + 1 + this.tags[this.firstTag[i]];
    }
  }

  /**
   * Which documents a reader's filters leave; values of one kind are alternatives, kinds must all hold.
   * @param {Record<string, any>} filters
   * @returns {((document: number) => boolean) | null}
   */
  allowed(filters) {
    const wanted = Object.entries(filters)
      .map(([kind, value]) => ({ kind: /** @type {Kind} */ (kind), asked: [value ?? []].flat() }))
      .filter(({ kind, asked }) => asked.length && this.of[kind])
      .map(({ kind, asked }) => ({
        of: this.of[kind],
        places: new Set(
          asked.map((value) => this.values[kind].findIndex((known) => String(known) === String(value))),
        ),
      }));
    if (!wanted.length) return null;
    return (document) =>
      wanted.every(({ of, places }) => Array.from(of(document)).some((place) => places.has(place)));
  }

  /**
   * The documents that a reader's filters leave, all without any, in reading order.
   * @param {Record<string, any>} filters
   * @returns {Int32Array}
   */
  pages(filters) {
    const allowed = this.allowed(filters);
    return Int32Array.from(this.reading.keys())
      .filter((document) => this.reading[document] && (!allowed || allowed(document)))
      .sort((a, b) => this.reading[a] - this.reading[b] || a - b);
  }

  /**
   * How many of these documents have each value, commonest first; years from the last one back.
   * @param {Int32Array} documents
   * @returns {Record<Kind, Count[]>}
   */
  counts(documents) {
    const found = /** @type {Record<Kind, Count[]>} */ ({});
    for (const kind of /** @type {Kind[]} */ (Object.keys(this.of))) {
      const counts = new Int32Array(this.values[kind].length);
      for (const document of documents)
        for (const place of Array.from(this.of[kind](document))) counts[place]++;
      const present = Array.from(counts.keys()).filter((place) => counts[place]);
      if (kind !== "date") present.sort((a, b) => counts[b] - counts[a] || a - b);
      found[kind] = present.map((place) => this.count(kind, place, counts[place]));
    }
    return found;
  }

  /**
   * @param {Kind} kind
   * @param {number} place
   * @param {number} count
   * @returns {Count}
   */
  count(kind, place, count) {
    const value = this.values[kind][place];
    return kind === "community"
      ? { value, label: this.labels.get(Number(value)) || "", count }
      : { value, count };
  }
}
