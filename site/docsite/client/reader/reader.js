// @ts-check
// What the page's scripts share: words, addresses, elements, and scripts that are loaded when they are
// needed.

const html = document.documentElement;
/** @type {Map<string, Promise<void>>} */
const loading = new Map();

export const reader = /** @type {Reader} */ ({
  root: new URL(html.dataset.root || "./", window.location.href).href,

  /** A word of the interface, filled in; `count` chooses the plural form of the reader's language. */
  say(part, key, values = {}) {
    const table = (window.noctuleWords || {})[part] || {};
    const count = values.count;
    const language = document.querySelector(".site-header")?.getAttribute("lang") || html.lang || "en";
    const form = typeof count === "number" ? `${key}_${new Intl.PluralRules(language).select(count)}` : key;
    const text = table[form] || table[key] || key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
  },

  /** The address of a file of this site, whatever page asks. */
  address: (path) => new URL(path, reader.root).href,

  /** An address to follow, or nothing if it is no page. */
  safeAddress(url) {
    try {
      const found = new URL(url, reader.root);
      return ["http:", "https:", "file:"].includes(found.protocol) ? found.href : "";
    } catch {
      return "";
    }
  },

  /** Runs a script of this site, once; a plain script element, because pages on a disk may fetch nothing. */
  load(path) {
    let known = loading.get(path);
    if (!known) {
      known = new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = reader.address(path);
        // A page that says no encoding would have its own read into the script.
        script.charset = "utf-8";
        script.onload = () => resolve();
        script.onerror = () => {
          loading.delete(path);
          script.remove();
          reject(new Error(`${path} could not be loaded`));
        };
        document.head.append(script);
      });
      loading.set(path, known);
    }
    return known;
  },

  /** An element with attributes and children; text is only ever text. */
  element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  },

  /** An event that an owner's own script may listen to. */
  emit(name, detail) {
    document.dispatchEvent(new CustomEvent(name, { detail }));
  },
});
