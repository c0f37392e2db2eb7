// @ts-check
// Boxes of the kind "tab" that follow each other become tabs; a choice holds for tabs of the same name on all
// pages.

import { reader } from "../reader/reader.js";

export function makeTabs() {
  const KEY = "noctule-tab";
  let number = 0;

  /** @typedef {{title: string, tab: HTMLElement, panel: Element}} Tab */
  /** @type {Tab[][]} */
  const groups = [];

  /** @returns {string[]} the titles chosen last, latest first */
  function chosen() {
    try {
      const kept = JSON.parse(window.localStorage.getItem(KEY) || "[]");
      return Array.isArray(kept) ? kept.filter((title) => typeof title === "string") : [];
    } catch {
      return [];
    }
  }

  /** @param {string} title */
  function keep(title) {
    try {
      const kept = [title, ...chosen().filter((other) => other !== title)].slice(0, 20);
      window.localStorage.setItem(KEY, JSON.stringify(kept));
    } catch {
      // The choice then holds for this page only.
    }
  }

  /**
   * @param {Tab[]} tabs
   * @param {Tab} open
   */
  function select(tabs, open) {
    for (const { tab, panel } of tabs) {
      const selected = tab === open.tab;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      panel.toggleAttribute("hidden", !selected);
    }
  }

  /** @param {string} title */
  function selectEverywhere(title) {
    for (const tabs of groups) {
      const same = tabs.find((each) => each.title === title);
      if (same) select(tabs, same);
    }
  }

  /**
   * @param {Tab[]} tabs
   * @param {KeyboardEvent} event
   */
  function move(tabs, event) {
    const at = tabs.findIndex((each) => each.tab === event.target);
    const backwards = getComputedStyle(tabs[0].tab).direction === "rtl" ? -1 : 1;
    const places = { ArrowRight: at + backwards, ArrowLeft: at - backwards, Home: 0, End: tabs.length - 1 };
    const next = Object.entries(places).find(([key]) => key === event.key)?.[1];
    if (next === undefined) return;
    event.preventDefault();
    const to = tabs[(next + tabs.length) % tabs.length];
    select(tabs, to);
    to.tab.focus();
  }

  /** @param {Element[]} boxes */
  function group(boxes) {
    const list = reader.element("div", { role: "tablist" });
    const tabs = boxes.map((panel) => {
      number += 1;
      const title =
        (panel.querySelector(".callout-title")?.textContent || "").trim() ||
        reader.say("page", "tab", { number });
      const tab = reader.element(
        "button",
        { type: "button", role: "tab", id: `Tab${number}`, "aria-controls": `Panel${number}` },
        title,
      );
      panel.id = `Panel${number}`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("tabindex", "0");
      panel.setAttribute("aria-labelledby", tab.id);
      list.append(tab);
      return { title, tab, panel };
    });
    const around = reader.element("div", { class: "tabs" });
    boxes[0].before(around);
    around.append(list, ...boxes);
    tabs.forEach((each) => {
      each.tab.addEventListener("click", () => {
        const top = each.tab.getBoundingClientRect().top;
        keep(each.title);
        select(tabs, each);
        selectEverywhere(each.title);
        // Tabs further up may have changed their height.
        window.scrollBy(0, each.tab.getBoundingClientRect().top - top);
      });
    });
    list.addEventListener("keydown", (event) => move(tabs, event));
    select(tabs, tabs[0]);
    groups.push(tabs);
  }

  /** @type {Element[]} */
  let run = [];
  document.querySelectorAll(".callout-tab").forEach((box) => {
    if (run.length && run[run.length - 1].nextElementSibling !== box) {
      group(run);
      run = [];
    }
    run.push(box);
  });
  if (run.length) group(run);
  if (groups.length) chosen().reverse().forEach(selectEverywhere);

  /** A link to something in a tab that is not open opens the tab. */
  function reveal() {
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    const panel = target?.closest("[role=tabpanel][hidden]");
    const tabs = groups.find((each) => each.some((tab) => tab.panel === panel));
    const tab = tabs?.find((each) => each.panel === panel);
    if (tabs && tab) {
      select(tabs, tab);
      target?.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", reveal);
  reveal();
}
