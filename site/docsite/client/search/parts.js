// @ts-check
// The files of the index, loaded as scripts: once each, checked, and counted.

import { columnsOf, inflated, unpacked, valueOf } from "./bytes.js";

/**
 * An error with a code that a page can act on, and a message that a reader understands.
 * @param {"missing" | "damaged" | "other-build"} code
 * @param {string} message
 * @returns {Error & {code: string}}
 */
export function searchError(code, message) {
  return Object.assign(new Error(message), { code });
}

export const MESSAGES = {
  missing: "A part of the search index could not be loaded. Check your connection and try again.",
  damaged: "A part of the search index is damaged. Reload the page; if it stays so, tell the site's owner.",
  "other-build": "This site was updated while you were reading. Reload the page to search it.",
};

/** @typedef {{name: string, length: number, packed: string}} Handed */
/** @type {WeakMap<HTMLOrSVGScriptElement, Handed>} */
const handed = new WeakMap();

/**
 * Called by each file of the index.
 * @param {string} name
 * @param {number} length
 * @param {string} packed
 */
export function part(name, length, packed) {
  const script = document.currentScript;
  if (script) handed.set(script, { name, length, packed });
}

export class Parts {
  /** @param {string} base the absolute address of the index's folder */
  constructor(base) {
    this.base = base;
    this.build = "";
    this.requests = 0;
    this.bytes = 0;
    /** @type {Map<string, Promise<Uint8Array[]>>} */
    this.loaded = new Map();
  }

  /**
   * The columns of a file; a file that could not be loaded is tried again the next time.
   * @param {string} name
   * @returns {Promise<Uint8Array[]>}
   */
  load(name) {
    let found = this.loaded.get(name);
    if (!found) {
      found = this.fetched(name, "");
      found.catch(() => this.loaded.delete(name));
      this.loaded.set(name, found);
    }
    return found;
  }

  /**
   * @param {string} name
   * @param {string} query
   * @returns {Promise<Uint8Array[]>}
   */
  async fetched(name, query) {
    const part = await this.script(name, query);
    if (part.name !== name) throw searchError("other-build", MESSAGES["other-build"]);
    try {
      return columnsOf(await inflated(unpacked(part.length, part.packed)));
    } catch {
      throw searchError("damaged", MESSAGES.damaged);
    }
  }

  /**
   * @param {string} name
   * @param {string} query
   * @returns {Promise<Handed>}
   */
  script(name, query) {
    const script = document.createElement("script");
    script.src = `${this.base}${name}.js${query}`;
    script.async = true;
    this.requests++;
    return new Promise((resolve, reject) => {
      script.onload = () => {
        const part = handed.get(script);
        script.remove();
        if (!part) return reject(searchError("damaged", MESSAGES.damaged));
        this.bytes += 2 * (part.packed.length + 40);
        resolve(part);
      };
      script.onerror = async () => {
        script.remove();
        const code = (await this.isOutdated()) ? "other-build" : "missing";
        reject(searchError(code, MESSAGES[code]));
      };
      document.head.append(script);
    });
  }

  /**
   * Whether the site has another index by now than the one that was opened.
   * @returns {Promise<boolean>}
   */
  async isOutdated() {
    const build = this.build;
    if (!build) return false;
    // Asked once: the answer may fail to load as well.
    this.build = "";
    try {
      const [header] = await this.fetched("manifest", `?${Date.now()}`);
      return valueOf(header).build !== build;
    } catch {
      return false;
    } finally {
      this.build = build;
    }
  }
}
