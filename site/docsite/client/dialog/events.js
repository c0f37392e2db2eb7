// @ts-check
// What was searched and opened, told to the address that the site's owner names. Nothing is told from a
// disk or
// by a browser that asks not to be followed, and nothing is kept in it: the number of a session ends with
// the page.

import { reader } from "../reader/published.js";

const IDLE_MS = 30 * 60 * 1000;
const MOST_HITS = 50;
const LONGEST = 300;
/** @typedef {{number: number, query: string, answer: SearchAnswer, told: boolean}} AskedSearch */
/** @type {AskedSearch | null} */
let pending = null;
/** What is left of a query that is being deleted. @type {AskedSearch | null} */
let shorter = null;
let session = "";
let number = 0;
let last = 0;

function place() {
  const found = reader.host ? reader.host.host : document.querySelector("[data-search]");
  return found instanceof HTMLElement ? found : null;
}

/** What is told: nothing, which results are opened, or also what was asked. */
export function told() {
  const asksNot =
    navigator.globalPrivacyControl ||
    [navigator.doNotTrack, window.doNotTrack].some((value) => value === "1");
  const owner = place();
  if (!owner?.dataset.events || asksNot || window.location.protocol === "file:") return "";
  return "eventQueries" in owner.dataset ? "recorded" : "counted";
}

/** A number that says nothing of anybody, and another one after a while. */
function sessionNumber() {
  if (!session || Date.now() - last > IDLE_MS) {
    const bytes = window.crypto.getRandomValues(new Uint8Array(8));
    session = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  last = Date.now();
  return session;
}

/** A page of this site from its first page, another site's by its address. @param {SearchHit} hit */
function nameOf({ url }) {
  const page = reader.safeAddress(url).split(/[?#]/)[0];
  if (page.startsWith(reader.root)) return page.slice(reader.root.length) || "index.html";
  return page || "-"; // a row has its place although it leads nowhere
}

/** @param {AskedSearch} search @param {Record<string, unknown>[]} more */
function tell(search, more = []) {
  const about = { session: sessionNumber(), search: search.number };
  const query = told() === "recorded" ? { query: search.query.slice(0, LONGEST) } : {};
  const hits = search.answer.hits.slice(0, MOST_HITS).map(nameOf);
  // Otherwise there are hits by meaning alone, none of which has a word of the query.
  const sure = search.answer.hits.some(({ why }) => Boolean(why.terms?.length));
  const found = hits.length ? { kind: "search", ...query, hits, sure } : { kind: "zero", ...query };
  const events = [...(search.told ? [] : [found]), ...more].map((event) => ({ ...event, ...about }));
  const url = new URL(place()?.dataset.events || "", window.location.href).href;
  if (events.length) navigator.sendBeacon(url, JSON.stringify({ events }));
  search.told = true;
}

export const events = {
  /**
   * An answer is shown. One to a query that is being typed is told when it is complete, and one of fewer
   * pages than
   * the query alone finds never.
   * @param {string} query
   * @param {SearchAnswer} answer
   * @param {boolean} narrowed
   */
  searched(query, answer, narrowed) {
    if (!told()) return;
    if (narrowed) events.settle();
    else if (pending && !pending.told && query.startsWith(pending.query)) {
      Object.assign(pending, { query, answer });
      shorter = null;
    } else if (pending && pending.query !== query && pending.query.startsWith(query)) {
      shorter = { number: ++number, query, answer, told: false };
    } else {
      events.settle();
      pending = { number: ++number, query, answer, told: false };
    }
  },

  /** @param {string} query @param {Choice} choice */
  opened(query, { rank, hit }) {
    if (shorter?.query === query) {
      const left = shorter;
      events.settle();
      pending = left;
    }
    if (pending?.query === query) tell(pending, [{ kind: "click", hit: nameOf(hit), rank: rank + 1 }]);
  },

  /** The search is over. */
  settle() {
    if (pending) tell(pending);
    pending = shorter = null;
  },
};
