// @ts-check
// Filters with the number of results each would leave; a filter that is chosen stays in view.

import { reader } from "../reader/published.js";

const element = reader.element;
const NAMES = /** @type {const} */ (["collection", "section", "tag", "community", "language", "date"]);
const SHOWN = 5;
const SHOWN_TOPICS = 3; // their names are long
/** @type {Set<string>} the kinds of which all are shown */
const unfolded = new Set();
let open = false;
/** Counts stay until those of the next answer are there. @type {SearchAnswer["facets"]} */
let last = {};
let everyLanguage = false;

/** What filters are counted of before anything is asked. @type {SearchAnswer} */
export const EVERYTHING = {
  hits: [],
  total: 0,
  facets: {},
  spelling: [],
  near: [],
  took: { ms: 0, bytes: 0, requests: 0 },
};

/** The language of this page, if the site has several. */
const ownLanguage = () => document.querySelector("[data-search]")?.getAttribute("data-language") || "";

/**
 * What a search on this page begins with: pages in its language, until somebody asked for all.
 * @returns {SearchFilters}
 */
export const filtersOfPage = () => (ownLanguage() && !everyLanguage ? { language: [ownLanguage()] } : {});

/**
 * Whether somebody chose a filter: the page's language is none.
 * @param {SearchFilters} chosen
 */
export function isNarrowed(chosen) {
  const kinds = /** @type {FacetName[]} */ (Object.keys(chosen));
  return kinds.some((name) => name !== "language" || String(chosen[name]) !== ownLanguage());
}

/** @param {FacetName} name @param {FacetValue} facet */
function label(name, { value, label: given }) {
  if (given) return given;
  if (value === "") return reader.say("dialog", "filter_top");
  if (name === "tag") return `#${value}`;
  if (name === "language") {
    try {
      const site = document.querySelector(".site-header")?.getAttribute("lang") || "en";
      return new Intl.DisplayNames([site], { type: "language" }).of(String(value)) || String(value);
    } catch {
      return String(value);
    }
  }
  return String(value);
}

/** @param {SearchFilters} chosen @param {FacetName} name @returns {(string | number)[]} */
const valuesOf = (chosen, name) => /** @type {(string | number)[]} */ (chosen[name] || []);

/**
 * @param {SearchFilters} chosen
 * @param {FacetName} name
 * @param {string | number} value
 * @returns {SearchFilters}
 */
function toggled(chosen, name, value) {
  const before = valuesOf(chosen, name);
  const after = before.includes(value) ? before.filter((each) => each !== value) : [...before, value];
  const changed = { ...chosen, [name]: after };
  if (!after.length) delete changed[name];
  return changed;
}

/** @param {FacetName} name @param {FacetValue} facet @param {boolean} on @param {() => void} press */
function chip(name, facet, on, press) {
  const count = element("span", { class: "chip-count" }, String(facet.count));
  const button = element(
    "button",
    {
      type: "button",
      class: "chip",
      dir: "auto",
      "aria-pressed": String(on),
      "data-facet": `${name}:${facet.value}`,
    },
    label(name, facet),
    " ",
    count,
  );
  button.addEventListener("click", press);
  return button;
}

/**
 * @param {DialogParts} parts
 * @param {SearchAnswer} answer
 * @param {SearchFilters} chosen
 * @param {(filters: SearchFilters) => void} change
 * @param {() => void} load asks for the counts, which nobody needs before
 */
export function showFacets(parts, answer, chosen, change, load) {
  const within = /** @type {Document | ShadowRoot} */ (parts.facets.getRootNode());
  const focused =
    within.activeElement instanceof HTMLElement ? within.activeElement.dataset.facet : undefined;
  const redraw = () => showFacets(parts, answer, chosen, change, load);
  if (Object.keys(answer.facets).length) last = answer.facets;
  else if (open) load();
  const rows = (open ? NAMES : []).flatMap((name) => {
    const picked = valuesOf(chosen, name);
    const values = [...(last[name] || [])];
    for (const value of picked)
      if (!values.some((each) => each.value === value)) values.unshift({ value, count: 0 });
    if (!values.length || (values.length === 1 && !picked.length)) return [];
    const ordered = [
      ...values.filter((each) => picked.includes(each.value)),
      ...values.filter((each) => !picked.includes(each.value)),
    ];
    const shown = unfolded.has(name)
      ? ordered
      : ordered.slice(0, Math.max(name === "community" ? SHOWN_TOPICS : SHOWN, picked.length));
    const chips = shown.map((facet) =>
      chip(name, facet, picked.includes(facet.value), () => change(toggled(chosen, name, facet.value))),
    );
    if (shown.length < ordered.length) {
      const more = element(
        "button",
        { type: "button", class: "chip chip-more" },
        reader.say("dialog", "filter_more", { count: ordered.length - shown.length }),
      );
      more.addEventListener("click", () => {
        unfolded.add(name);
        redraw();
      });
      chips.push(more);
    }
    const title = element(
      "span",
      { class: "facet-name", id: `Facet-${name}` },
      reader.say("dialog", `filter_${name}`),
    );
    return [element("div", { class: "facet", role: "group", "aria-labelledby": title.id }, title, ...chips)];
  });
  const count = Object.values(chosen).flat().length;
  const told = isNarrowed(chosen) ? ` (${count})` : "";
  const toggle = element(
    "button",
    { type: "button", class: "facets-toggle", "aria-expanded": String(open), "data-facet": "toggle" },
    reader.say("dialog", "filters") + told,
  );
  toggle.addEventListener("click", () => {
    open = !open;
    redraw();
  });
  const line = element("div", { class: "facet" }, toggle);
  rows.unshift(line);
  if (count) {
    const clear = element(
      "button",
      { type: "button", class: "chip chip-clear" },
      reader.say("dialog", isNarrowed(chosen) ? "filter_clear" : "filter_all_languages"),
    );
    clear.addEventListener("click", () => {
      everyLanguage = !isNarrowed(chosen);
      change(filtersOfPage());
    });
    line.append(clear);
  }
  parts.facets.replaceChildren(...rows);
  const again =
    focused &&
    [...parts.facets.querySelectorAll("button")].find((button) => button.dataset.facet === focused);
  if (again) again.focus();
  else if (focused !== undefined) parts.input.focus();
}
