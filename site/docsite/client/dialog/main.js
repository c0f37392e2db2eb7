// @ts-check
// The dialog at work: typing, keys, the address, and answers in the order in which they were asked for.
import { reader } from "../reader/published.js";
import { announce, buildDialog } from "./build.js";
import { activate, moved, rows } from "./choices.js";
import { engine, forgetEngine } from "./engine.js";
import { events } from "./events.js";
import { EVERYTHING, filtersOfPage, isNarrowed, showFacets } from "./facets.js";
import { remember } from "./remember.js";
import { showEarly, showResults } from "./results.js";
import { notes, showFailure, showInAddress, showNothing, showStart } from "./states.js";

const PAUSE = 85; // longer than between two keys of a fast typist
const SHOWN = 6; // as many as a screen shows; the others come when they are scrolled to
const NEAR_END = 160;
/** @type {DialogParts | null} */
let built = null;
/** @type {HTMLElement | null} */
let trigger = null;
/** @type {SearchAnswer | null} */
let answer = null;
/** @type {AbortController | null} */
let running = null;
/** @type {SearchFilters} */
let filters = {};
let timer = 0;
let asked = "";
let showWhy = false;
let goFirst = false;
let empty = "";
let growing = false;

/**
 * A query without results is worth remembering once it is given up, not while it is being typed on.
 * @param {string} next
 */
function giveUp(next) {
  if (empty && !(next && next.startsWith(empty))) remember.addZero(empty);
  empty = "";
  if (!next) events.settle();
}

/** @param {DialogParts} parts */
function draw(parts) {
  if (!answer) return;
  const chosenLink = rows.choices[rows.active]?.link.href;
  parts.list.removeAttribute("aria-busy");
  drawFacets(parts);
  if (!answer.hits.length) {
    rows.choices = [];
    showNothing(parts, answer, asked, Object.keys(filters).length > 0, (query) => type(parts, query));
    return;
  }
  parts.state.replaceChildren(...notes(answer, asked, (query) => type(parts, query)));
  const more = answer.hits.length < answer.total ? () => grow(parts) : null;
  rows.choices = showResults(parts, answer, showWhy, more);
  activate(
    parts,
    rows.choices.findIndex(({ link }) => link.href === chosenLink),
  );
}

/** @param {DialogParts} parts */
function drawFacets(parts) {
  const given = answer;
  const shown = given || EVERYTHING;
  const change = (/** @type {SearchFilters} */ changed) => {
    filters = changed;
    ask(parts, asked);
  };
  showFacets(parts, shown, filters, change, async () => {
    try {
      shown.facets = await (await engine()).facets(given);
    } catch (error) {
      showFailure(parts, /** @type {SearchError} */ (error));
      return;
    }
    if (answer === given) drawFacets(parts);
  });
  parts.facets.hidden = !(shown.hits.length || !asked || Object.keys(filters).length);
}

/**
 * Adds the next hits below those that are there.
 * @param {DialogParts} parts
 */
async function grow(parts) {
  const shown = answer;
  if (!shown || growing || shown.hits.length >= shown.total) return;
  growing = true;
  try {
    const hits = await (await engine()).more(shown, SHOWN);
    shown.hits.push(...hits);
    if (hits.length < SHOWN) shown.total = shown.hits.length;
  } catch (error) {
    if (answer === shown) showFailure(parts, /** @type {SearchError} */ (error));
    return;
  } finally {
    growing = false;
  }
  if (answer === shown) draw(parts);
}

/** @param {DialogParts} parts @param {SearchAnswer} found @param {string} query @param {number} started */
function received(parts, found, query, started) {
  answer = found;
  draw(parts);
  const live = /** @type {HTMLElement} */ (parts.dialog.querySelector("#SearchLive"));
  const told = !query ? "count_pages" : found.hits.length ? "count" : "count_none";
  announce(live, reader.say("dialog", told, { count: found.total, query }));
  if (!query) return;
  reader.emit("noctule:search", {
    query,
    filters,
    count: found.total,
    ms: Math.round(performance.now() - started),
  });
  giveUp(query);
  events.searched(query, found, isNarrowed(filters));
  if (!found.hits.length && !isNarrowed(filters)) empty = query;
  if (goFirst && rows.choices.length) follow(rows.choices[0], false);
  goFirst = false;
}

/** @param {DialogParts} parts */
function start(parts) {
  running = null;
  answer = null;
  parts.list.removeAttribute("aria-busy");
  drawFacets(parts);
  rows.choices = showStart(
    parts,
    (recent) => type(parts, recent),
    () => start(parts),
  );
  activate(parts, -1);
}

/** @param {DialogParts} parts @param {string} query */
async function ask(parts, query) {
  window.clearTimeout(timer);
  running?.abort();
  asked = query.trim();
  showInAddress(asked);
  if (!asked && !isNarrowed(filters)) {
    start(parts);
    return;
  }
  const mine = (running = new AbortController());
  const started = performance.now();
  parts.list.setAttribute("aria-busy", "true");
  try {
    const early = (/** @type {SearchHit[]} */ hits) => {
      if (mine !== running || goFirst) return;
      answer = null;
      rows.active = -1;
      rows.choices = showEarly(parts, hits);
    };
    const alone = isNarrowed(filters);
    const options = { limit: SHOWN, filters, alone, facets: false, early, signal: mine.signal };
    const opened = await engine();
    const found = await (asked ? opened.search(asked, options) : opened.browse(options));
    if (mine === running && !mine.signal.aborted) received(parts, found, asked, started);
  } catch (error) {
    if (mine !== running || mine.signal.aborted) return;
    parts.list.removeAttribute("aria-busy");
    rows.choices = [];
    answer = null;
    goFirst = false;
    forgetEngine();
    showFailure(parts, /** @type {SearchError} */ (error));
  }
}

/** @param {DialogParts} parts @param {string} query */
function type(parts, query) {
  parts.input.value = query;
  parts.input.focus();
  ask(parts, query);
}

/** @param {DialogParts} parts */
function typed(parts) {
  window.clearTimeout(timer);
  const query = parts.input.value;
  // What is sure to be needed is asked for at once, the rest waits for a pause.
  if (query.trim())
    engine().then(
      (opened) => opened.warm(query),
      () => undefined,
    );
  timer = window.setTimeout(() => ask(parts, query), query.trim() ? PAUSE : 0);
}

/** @param {Choice} choice @param {boolean} elsewhere */
function follow(choice, elsewhere) {
  remember.select(asked, choice);
  events.opened(asked, choice);
  if (elsewhere) window.open(choice.link.href, "_blank", "noopener");
  else choice.link.click();
}

/** @param {DialogParts} parts @param {KeyboardEvent} event */
function keyed(parts, event) {
  // While a word is being composed, every key belongs to the input method.
  if (event.isComposing || event.keyCode === 229) return;
  if (moved(parts, event)) return;
  if (event.key === "Enter") {
    event.preventDefault();
    const choice = rows.choices[Math.max(rows.active, 0)];
    if (!parts.input.value.trim() && rows.active < 0) return;
    if (choice && asked === parts.input.value.trim())
      follow(choice, event.ctrlKey || event.metaKey || event.shiftKey);
    else {
      goFirst = true;
      ask(parts, parts.input.value);
    }
  } else if (event.key === "Escape") {
    event.preventDefault();
    parts.dialog.close();
  }
}

/** @param {DialogParts} parts @param {MouseEvent} event */
function clicked(parts, event) {
  const link = event.target instanceof Element ? event.target.closest("a[role=option]") : null;
  const choice = rows.choices.find((each) => each.link === link);
  if (!choice) return;
  if (event.isTrusted) {
    remember.select(asked, choice);
    events.opened(asked, choice);
  }
  const here = window.location.href.split("#")[0].split("?")[0];
  if (choice.link.href.split("#")[0] === here && !event.ctrlKey && !event.metaKey) parts.dialog.close();
}

/** @param {DialogParts} parts */
function wire(parts) {
  const { dialog, input } = parts;
  input.addEventListener("input", (event) => {
    if (!(event instanceof InputEvent && event.isComposing)) typed(parts);
  });
  input.addEventListener("compositionend", () => typed(parts));
  input.addEventListener("keydown", (event) => keyed(parts, event));
  parts.list.addEventListener("click", (event) => clicked(parts, event));
  parts.close.addEventListener("click", () => dialog.close());
  parts.scroll.addEventListener("scroll", () => {
    const { scrollHeight, scrollTop, clientHeight } = parts.scroll;
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) grow(parts);
  });
  parts.why.addEventListener("click", () => {
    showWhy = !showWhy;
    parts.why.setAttribute("aria-pressed", String(showWhy));
    draw(parts);
  });
  window.addEventListener("pagehide", () => giveUp(""));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    // A dialog that was just closed keeps the focus for a moment.
    if (dialog.open && (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      dialog.close();
    }
  });
  dialog.addEventListener("close", () => {
    // The event comes later than the closing: the dialog may be open again.
    if (dialog.open) return;
    giveUp("");
    window.clearTimeout(timer);
    running?.abort();
    document.documentElement.classList.remove("searching");
    showInAddress("");
    trigger?.focus();
  });
}

/** @param {string} query @param {HTMLElement | null} from */
function openDialog(query, from) {
  if (!built) {
    built = buildDialog();
    filters = filtersOfPage();
    wire(built);
  }
  const parts = built;
  if (parts.dialog.open) return;
  trigger = from;
  if (query) parts.input.value = query;
  if (!parts.input.value.trim()) filters = filtersOfPage();
  document.documentElement.classList.add("searching");
  parts.dialog.showModal();
  parts.input.focus();
  parts.input.select();
  engine().catch(() => undefined); // loaded while the first word is typed
  ask(parts, parts.input.value);
}

// For the page that opened the dialog, and for the playground.
Object.assign(reader, { openDialog, engine, remember });
