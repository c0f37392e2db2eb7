// @ts-check
// What the dialog shows when there are no results to show: recent searches, ways on, or what is wrong.

import { reader } from "../reader/published.js";
import { told } from "./events.js";
import { remember } from "./remember.js";
import { showRecentPages } from "./results.js";

const element = reader.element;
/** @param {string} key @param {Record<string, string | number>} [values] */
const say = (key, values) => reader.say("dialog", key, values);

/** @param {string} text @param {() => void} press */
function suggestion(text, press) {
  const button = element("button", { type: "button", class: "chip", dir: "auto" }, text);
  button.addEventListener("click", press);
  return button;
}

/**
 * What misspelt words were read as, or may have been meant to be, and which other sites did not answer.
 * @param {SearchAnswer} answer
 * @param {string} query
 * @param {(query: string) => void} ask
 */
export function notes({ spelling, absent = [] }, query, ask) {
  /** @param {string} from @param {string} to */
  const mended = (from, to) =>
    query.replace(/[\p{L}\p{N}_'’]+/gu, (word) => (word.toLowerCase() === from ? to : word));
  const away = absent.map((site) => element("p", { class: "state-note" }, say("absent", { site })));
  const words = spelling.map(({ from, to, offered }) =>
    offered
      ? element(
          "p",
          { class: "state-note" },
          say("did_you_mean"),
          " ",
          suggestion(mended(from, to), () => ask(mended(from, to))),
        )
      : element("p", { class: "state-note", dir: "auto" }, say("spelled", { from, to })),
  );
  return [...words, ...away];
}

/** @param {string} title @param {(Node | string)[]} content */
function block(title, content) {
  return element(
    "section",
    { class: "state-block" },
    element("h2", {}, title),
    element("p", { class: "chips" }, ...content),
  );
}

/** @param {string} key @param {string} path */
function page(key, path) {
  return element("a", { class: "chip", href: reader.address(path) }, say(key));
}

function browse() {
  // A site that was built by something else has no such pages.
  if (reader.host) return "";
  const links = [page("browse_words", "_search/index.html"), page("browse_pages", "_pages/index.html")];
  if (document.querySelector(".site-links a[href*='_communities/index.html']"))
    links.push(page("browse_topics", "_communities/index.html"));
  if (document.querySelector(".site-links a[href*='_tags/index.html']"))
    links.push(page("browse_tags", "_tags/index.html"));
  return block(say("browse"), links);
}

/** @param {DialogParts} parts @param {(Node | string)[]} content */
function show(parts, content) {
  parts.state.replaceChildren(...content);
  parts.list.replaceChildren();
  parts.scroll.querySelector(".search-more")?.remove();
  parts.count.textContent = "";
  parts.why.hidden = true;
  parts.input.setAttribute("aria-expanded", "false");
}

/**
 * @param {DialogParts} parts
 * @param {(query: string) => void} ask
 * @param {() => void} cleared
 * @returns {Choice[]} the pages opened last
 */
export function showStart(parts, ask, cleared) {
  const recent = remember.recent();
  const content = [element("p", { class: "state-lead" }, say("start"))];
  if (recent.length || remember.pages().length) {
    const clear = element("button", { type: "button", class: "state-clear" }, say("recent_clear"));
    clear.addEventListener("click", () => {
      remember.clearRecent();
      cleared();
      parts.input.focus();
    });
    const queries = recent.map((query) => suggestion(query, () => ask(query)));
    if (queries.length) content.push(block(say("recent"), queries));
    content.push(clear);
  }
  const note = told() ? element("p", { class: "state-note" }, say(`events_${told()}`)) : "";
  show(parts, [...content, browse(), note]);
  return showRecentPages(parts);
}

/**
 * @param {DialogParts} parts
 * @param {SearchAnswer} answer
 * @param {string} query
 * @param {boolean} filtered
 * @param {(query: string) => void} ask
 */
export function showNothing(parts, answer, query, filtered, ask) {
  const key = !query ? "nothing_chosen" : filtered ? "nothing_filters" : "nothing";
  /** @type {(Node | string)[]} */
  const content = [element("p", { class: "state-lead", dir: "auto" }, say(key, { query }))];
  content.push(...notes(answer, query, ask));
  if (answer.near.length)
    content.push(
      block(
        say("near"),
        answer.near.slice(0, 8).map((word) => suggestion(word, () => ask(word))),
      ),
    );
  const words = query.split(/\s+/).filter(Boolean);
  if (words.length > 1 && words.length < 8) {
    const less = words.map((word, place) =>
      suggestion(say("try_less", { word }), () => ask(words.filter((_, at) => at !== place).join(" "))),
    );
    content.push(element("p", { class: "chips" }, ...less));
  }
  show(parts, [...content, browse()]);
}

/** @param {DialogParts} parts @param {SearchError} error */
export function showFailure(parts, error) {
  if (error.code === "damaged") reader.emit("noctule:failed", { code: error.code });
  const key = error.code ? error.code.replace("-", "_") : "failed";
  const again = element("button", { type: "button", class: "chip" }, say("reload"));
  again.addEventListener("click", () => window.location.reload());
  const message = element(
    "p",
    { class: "state-lead state-error", role: "alert" },
    say(key, { reason: error.message }),
  );
  show(parts, [message, element("p", { class: "chips" }, again), browse()]);
}

/** @param {string} query */
export function showInAddress(query) {
  const url = new URL(window.location.href);
  if (query) url.searchParams.set(reader.parameter || "q", query);
  else url.searchParams.delete(reader.parameter || "q");
  try {
    window.history.replaceState(window.history.state, "", url);
  } catch {
    // Some browsers forbid it on a disk.
  }
}
