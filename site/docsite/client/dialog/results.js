// @ts-check
// Results as links, grouped by page, with the words that were found marked. Everything is text: nothing is
// parsed.

import { reader } from "../reader/published.js";
import { remember } from "./remember.js";

const element = reader.element;
const SECTIONS = 3;
const SHARES = /** @type {const} */ (["keyword", "semantic"]);
const FACTORS = /** @type {const} */ (["links", "support", "boost"]);

/** @param {string} text @param {[number, number][]} marks @returns {(Node | string)[]} */
function marked(text, marks) {
  /** @type {(Node | string)[]} */
  const pieces = [];
  let at = 0;
  for (const [start, end] of [...marks].sort((a, b) => a[0] - b[0])) {
    if (start < at || end <= start || end > text.length) continue;
    pieces.push(text.slice(at, start), element("mark", {}, text.slice(start, end)));
    at = end;
  }
  return [...pieces, text.slice(at)];
}

/** @param {string[]} steps */
function way(steps) {
  const pieces = steps
    .filter(Boolean)
    .flatMap((step, place) => (place ? [element("span", { "aria-hidden": "true" }, " › "), step] : [step]));
  return element("span", { class: "hit-way", dir: "auto" }, ...pieces);
}

/** @param {number} share @param {string} told */
function part(share, told) {
  const bar = element("meter", { min: "0", max: "100", value: String(share), "aria-hidden": "true" });
  return element("span", { class: "why-part" }, bar, told);
}

/**
 * What the score is made of: words and meaning share it, links and other parts of the page multiply it.
 * @param {SearchHit} hit
 */
function explanation(hit) {
  const shares = SHARES.map((name) => Math.max(0, Number(hit.why[name]) || 0));
  const sum = shares.reduce((total, share) => total + share, 0) || 1;
  const rows = SHARES.map((name, place) => {
    const percent = Math.round((100 * shares[place]) / sum);
    return part(percent, reader.say("dialog", `why_${name}`, { percent: `${percent} %` }));
  });
  for (const name of FACTORS) {
    const more = Math.round(100 * ((Number(hit.why[name]) || 1) - 1));
    if (more)
      rows.push(
        part(
          Math.abs(more),
          reader.say("dialog", `why_${name}`, { percent: `${more > 0 ? "+" : "−"}${Math.abs(more)} %` }),
        ),
      );
  }
  const terms = (hit.why.terms || []).join(", ");
  if (terms)
    rows.push(
      element(
        "span",
        { class: "why-part", dir: "auto" },
        reader.say("dialog", "why_terms", { words: terms }),
      ),
    );
  return element("div", { class: "why" }, ...rows);
}

/** @param {string | undefined} modified */
function changed(modified) {
  const date =
    modified && /^\d{4}-\d{2}-\d{2}/.test(modified) ? new Date(`${modified.slice(0, 10)}T00:00:00Z`) : null;
  if (!date || Number.isNaN(date.getTime())) return "";
  const language = document.querySelector(".site-header")?.getAttribute("lang") || "en";
  const shown = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" }).format(date);
  return reader.say("dialog", "changed", { date: shown });
}

/** @param {string} url @param {string} id @param {string} kind @param {(Node | string)[]} content */
function option(url, id, kind, content) {
  const href = reader.safeAddress(url);
  const attributes = {
    role: "option",
    id,
    class: kind,
    tabindex: "-1",
    "aria-selected": "false",
    href: href || null,
  };
  return /** @type {HTMLAnchorElement} */ (element("a", attributes, ...content));
}

/**
 * What a row leads to, as a small picture with a name.
 * @param {"page" | "section" | "code"} name
 */
function kind(name) {
  return element("span", {
    class: `hit-kind kind-${name}`,
    role: "img",
    "aria-label": reader.say("dialog", `kind_${name}`),
  });
}

/** @param {SearchSection} section */
function excerpt(section) {
  return element(
    "span",
    { class: "hit-excerpt", dir: "auto" },
    ...marked(section.excerpt, section.marks || []),
  );
}

/** @param {SearchHit} hit @param {number} rank @param {boolean} showWhy @param {Choice[]} choices */
function group(hit, rank, showWhy, choices) {
  const sections = (hit.sections || []).slice(0, SECTIONS);
  // A section without a title of its own is the beginning of the page.
  const first = sections.find(
    (section) => section.url === hit.url || !section.title || section.title === hit.title,
  );
  const title = element(
    "span",
    { class: "hit-title", id: `Hit${rank}Title`, dir: "auto" },
    kind(first?.code ? "code" : "page"),
    hit.title,
  );
  const above = hit.breadcrumb || [];
  const site = hit.site ? element("span", { class: "hit-site", dir: "auto" }, hit.site) : "";
  const facts = [site, above.length ? way(above) : "", changed(hit.modified)].filter(Boolean);
  const top = option(hit.url, `Hit${rank}`, "hit hit-page", [
    title,
    element("span", { class: "hit-facts" }, ...facts),
    ...(first ? [excerpt(first)] : []),
  ]);
  const made = element(
    "div",
    { role: "group", class: "hit-group", "aria-labelledby": `Hit${rank}Title` },
    top,
  );
  choices.push({ link: top, rank, hit });
  if (showWhy) made.append(explanation(hit));
  sections.forEach((section, place) => {
    if (section === first) return;
    const name = element(
      "span",
      { class: "hit-title", dir: "auto" },
      kind(section.code ? "code" : "section"),
      section.title,
    );
    const link = option(section.url, `Hit${rank}Part${place}`, "hit hit-section", [name, excerpt(section)]);
    choices.push({ link, rank, hit });
    made.append(link);
  });
  return made;
}

/**
 * What came first, until the answer is there.
 * @param {DialogParts} parts
 * @param {SearchHit[]} hits
 * @returns {Choice[]}
 */
export function showEarly(parts, hits) {
  /** @type {Choice[]} */
  const choices = [];
  parts.state.replaceChildren();
  parts.list.replaceChildren(...hits.map((hit, rank) => group(hit, rank, false, choices)));
  parts.input.setAttribute("aria-expanded", "true");
  return choices;
}

/**
 * The pages that were opened from here, below what the dialog says before anything is asked.
 * @param {DialogParts} parts
 * @returns {Choice[]}
 */
export function showRecentPages(parts) {
  /** @type {Choice[]} */
  const choices = [];
  const pages = remember.pages();
  const why = { keyword: 0, semantic: 0, links: 1, support: 1, boost: 1, terms: [] };
  const groups = pages.map((page, rank) =>
    group({ ...page, score: 0, why, sections: [] }, rank, false, choices),
  );
  const title = element(
    "h2",
    { class: "list-title", role: "presentation" },
    reader.say("dialog", "recent_pages"),
  );
  parts.list.replaceChildren(...(groups.length ? [title, ...groups] : []));
  parts.input.setAttribute("aria-expanded", String(choices.length > 0));
  return choices;
}

/**
 * Shows these groups and keeps the rows that are there already: one that is being pressed must not go.
 * @param {HTMLElement} list
 * @param {HTMLElement[]} groups
 * @param {Choice[]} choices
 */
function update(list, groups, choices) {
  for (const each of list.querySelectorAll("[aria-selected=true]"))
    each.setAttribute("aria-selected", "false");
  groups.forEach((made, place) => {
    const shown = list.children[place];
    if (shown?.isEqualNode(made)) {
      const [links, kept] = [made, shown].map((node) => [...node.querySelectorAll("a")]);
      for (const choice of choices) choice.link = kept[links.indexOf(choice.link)] ?? choice.link;
    } else if (shown) shown.replaceWith(made);
    else list.append(made);
  });
  while (list.children.length > groups.length) list.lastElementChild?.remove();
}

/**
 * @param {DialogParts} parts
 * @param {SearchAnswer} answer
 * @param {boolean} showWhy
 * @param {(() => void) | null} more adds to the list, if there is more
 * @returns {Choice[]}
 */
export function showResults(parts, answer, showWhy, more) {
  /** @type {Choice[]} */
  const choices = [];
  const groups = answer.hits.map((hit, rank) => group(hit, rank, showWhy, choices));
  update(parts.list, groups, choices);
  parts.scroll.querySelector(".search-more")?.remove();
  if (more) {
    const button = element("button", { type: "button", class: "search-more" }, reader.say("dialog", "more"));
    button.addEventListener("click", more);
    parts.list.after(button);
  }
  parts.why.hidden = !answer.hits.some(({ score }) => score); // of a filter without words there is none
  parts.input.setAttribute("aria-expanded", String(choices.length > 0));
  parts.count.textContent = reader.say("dialog", "count_short", { count: answer.total });
  return choices;
}
