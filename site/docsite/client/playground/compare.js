// @ts-check
// Two sets of weights side by side on the same question, and the searches of this browser that found nothing.

import { reader } from "../reader/published.js";

/** @param {HTMLElement} place */
export function compareWeights(place) {
  const element = reader.element;
  const NAMES = /** @type {const} */ (["keyword", "semantic", "links", "support"]);
  const MANY = 10;
  /** @param {string} key @param {Record<string, string | number>} [values] */
  const say = (key, values) => reader.say("dialog", key, values);

  /** @param {string} side @returns {{box: HTMLElement, weights: () => SearchWeights, list: HTMLElement}} */
  function side(side) {
    const sliders = NAMES.map((name) => {
      const id = `Weight-${side}-${name}`;
      const shown = element("output", { for: id }, "1");
      const slider = /** @type {HTMLInputElement} */ (
        element("input", { type: "range", id, min: "0", max: "3", step: "0.1", value: "1" })
      );
      slider.addEventListener("input", () => {
        shown.textContent = slider.value;
        soon();
      });
      return {
        name,
        slider,
        row: element(
          "p",
          { class: "weight" },
          element("label", { for: id }, say(`weight_${name}`)),
          slider,
          shown,
        ),
      };
    });
    const list = element("ol", { class: "ranking" });
    const title = element("h2", {}, say(`weights_${side}`));
    const box = element("section", { class: "side" }, title, ...sliders.map((each) => each.row), list);
    const weights = () =>
      /** @type {any} */ (Object.fromEntries(sliders.map((each) => [each.name, Number(each.slider.value)])));
    return { box, weights, list };
  }

  const query = /** @type {HTMLInputElement} */ (
    element("input", { type: "search", id: "Question", dir: "auto", autocomplete: "off", maxlength: "300" })
  );
  const sides = [side("a"), side("b")];
  const status = element("p", { role: "status", class: "note" });
  let timer = 0;
  let turn = 0;

  function soon() {
    window.clearTimeout(timer);
    timer = window.setTimeout(compare, 200);
  }

  /** @param {SearchHit[]} hits @param {SearchHit[]} others @param {SearchHit} hit */
  function move(hits, others, hit) {
    const here = hits.indexOf(hit);
    const there = others.findIndex((other) => other.url === hit.url);
    if (there < 0) return say("only_here");
    if (there === here) return say("same_place");
    return there > here
      ? say("moved_up", { count: there - here })
      : say("moved_down", { count: here - there });
  }

  /** @param {HTMLElement} list @param {SearchHit[]} hits @param {SearchHit[]} others */
  function show(list, hits, others) {
    const rows = hits.map((hit) => {
      const parts = NAMES.map(
        (name) => `${say(`weight_${name}`)} ${(Number(hit.why[name]) || 0).toFixed(2)}`,
      ).join(" · ");
      const link = element("a", { href: reader.safeAddress(hit.url) || null, dir: "auto" }, hit.title);
      return element(
        "li",
        {},
        link,
        " ",
        element("span", { class: "count" }, move(hits, others, hit)),
        element("span", { class: "note" }, `${hit.score.toFixed(3)} · ${parts}`),
      );
    });
    list.replaceChildren(...rows);
  }

  async function compare() {
    const mine = (turn += 1);
    const text = query.value.trim();
    if (!text) return;
    status.textContent = say("loading");
    try {
      const engine = await reader.engine();
      const answers = await Promise.all(
        sides.map((each) => engine.search(text, { limit: MANY, filters: {}, weights: each.weights() })),
      );
      if (mine !== turn) return;
      status.textContent = say("count", { count: answers[0].total, query: text });
      sides.forEach((each, at) => show(each.list, answers[at].hits, answers[1 - at].hits));
    } catch (error) {
      const { code, message } = /** @type {SearchError} */ (error);
      const key = code ? code.replace("-", "_") : "failed";
      status.textContent = say(key, { reason: message });
    }
  }

  function withoutResults() {
    const kept = reader.remember.zero();
    const rows = kept.map((each) =>
      element("li", { dir: "auto" }, each.query, " ", element("span", { class: "count" }, `× ${each.count}`)),
    );
    const list = kept.length
      ? element("ul", { class: "zero" }, ...rows)
      : element("p", {}, say("zero_empty"));
    const exported = element("button", { type: "button" }, say("zero_export"));
    exported.addEventListener("click", () => {
      const address = URL.createObjectURL(
        new Blob([JSON.stringify(kept, null, 2) + "\n"], { type: "application/json" }),
      );
      element("a", { href: address, download: "searches-without-results.json" }).click();
      window.setTimeout(() => URL.revokeObjectURL(address), 1000);
    });
    const clear = element("button", { type: "button" }, say("zero_clear"));
    clear.addEventListener("click", () => {
      reader.remember.clearZero();
      section.replaceWith((section = withoutResults()));
    });
    const buttons = kept.length ? [element("p", { class: "chips" }, exported, clear)] : [];
    return element(
      "section",
      { class: "zero-results" },
      element("h2", {}, say("zero_title")),
      element("p", { class: "note" }, say("zero_lead")),
      list,
      ...buttons,
    );
  }

  query.addEventListener("input", soon);
  let section = withoutResults();
  const label = element("label", { for: "Question" }, say("question"));
  place.append(
    element("p", { class: "question" }, label, query),
    status,
    element("div", { class: "sides" }, ...sides.map((each) => each.box)),
    section,
  );
}
