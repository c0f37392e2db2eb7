// @ts-check
// Reading without a network, where the owner wants it; where the owner no longer does, the copies go.

import { reader } from "../reader/reader.js";

export function offerOfflineReading() {
  // A page that was opened from a disk, or over a connection that is not secure, has none.
  const workers = window.location.protocol.startsWith("http") ? navigator.serviceWorker : undefined;
  if (!workers) return;
  const script = reader.address("service-worker.js");

  /** @param {{keep?: string[], forget?: boolean}} told */
  function tell(told) {
    workers?.controller?.postMessage(told);
  }

  /** What this page loaded, which the worker did not see if it came later. */
  function arrived() {
    const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
    tell({ keep: [window.location.href, ...loaded] });
  }

  async function begin() {
    // Not in the page's markup: a browser complains of it on a page from a disk.
    document.head.append(
      reader.element("link", { rel: "manifest", href: reader.address("_assets/manifest.webmanifest") }),
    );
    workers?.addEventListener("controllerchange", arrived);
    const registration = await workers?.register(script, { scope: reader.root });
    arrived();
    // A browser looks for another build when it likes, and not on every visit.
    await registration?.update();
  }

  async function end() {
    if (workers?.controller?.scriptURL !== script) return;
    await (await workers.getRegistration(reader.root))?.unregister();
    const names = (await caches.keys()).filter(
      (name) => name.startsWith("noctule ") && name.endsWith(` ${reader.root}`),
    );
    await Promise.all(names.map((name) => caches.delete(name)));
  }

  // A copy that the search cannot use is not kept.
  document.addEventListener("noctule:failed", () => tell({ forget: true }));
  const wanted = "offline" in document.documentElement.dataset;
  window.addEventListener("load", () => (wanted ? begin() : end()).catch(() => {}));
}
