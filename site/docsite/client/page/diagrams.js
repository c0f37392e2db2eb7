// @ts-check
// Draws diagrams with the owner's copy of mermaid, if there is one; else they stay as their source.

import { reader } from "../reader/reader.js";

export function drawDiagrams() {
  const blocks = document.querySelectorAll(".diagram");
  if (!blocks.length || !("mermaid" in document.documentElement.dataset)) return;
  const dark =
    getComputedStyle(document.body).colorScheme === "dark" ||
    window.matchMedia("(prefers-color-scheme: dark)").matches;

  /** @param {Element} block @param {number} number */
  async function draw(block, number) {
    const source = block.querySelector("code")?.textContent || "";
    const { svg } = await /** @type {NonNullable<Window["mermaid"]>} */ (window.mermaid).render(
      `Diagram${number}`,
      source,
    );
    const image = document.createElement("img");
    // As a picture, so that nothing in it runs and its styles stay its own.
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    image.alt = source.trim();
    image.className = "diagram-picture";
    await image.decode();
    const shown = reader.element("figure", { class: "diagram-drawn" }, image);
    block.before(shown);
    const details = reader.element(
      "details",
      {},
      reader.element("summary", {}, reader.say("page", "diagram_source")),
    );
    shown.append(details);
    details.append(block);
  }

  reader.load("_assets/mermaid.js").then(
    async () => {
      if (!window.mermaid) return;
      window.mermaid.initialize({
        startOnLoad: false,
        securityLevel: "strict",
        theme: dark ? "dark" : "default",
        htmlLabels: false,
        flowchart: { htmlLabels: false },
      });
      let number = 0;
      for (const block of blocks) {
        number += 1;
        await draw(block, number).catch(() => undefined);
      }
    },
    () => undefined,
  );
}
