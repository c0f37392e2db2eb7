// @ts-check
// Makes the current page visible in the navigation, marks the section in view, and closes the menu on Escape.

export function arrangeNavigation() {
  var nav = document.getElementById("SiteNav");

  function revealCurrent() {
    var current = nav && nav.querySelector("[aria-current=page]");
    if (!nav || !(current instanceof HTMLElement)) return;
    // Not scrollIntoView: it would scroll the page as well.
    var offset = current.getBoundingClientRect().top - nav.getBoundingClientRect().top;
    if (offset > nav.clientHeight * 0.8) nav.scrollTop += offset - nav.clientHeight / 3;
  }

  function spyOnSections() {
    /** @type {Map<Element, Element>} */
    var links = new Map();
    document.querySelectorAll(".toc a").forEach(function (link) {
      var heading = document.getElementById(decodeURIComponent((link.getAttribute("href") || "").slice(1)));
      if (heading) links.set(heading, link);
    });
    if (!links.size || !("IntersectionObserver" in window)) return;
    var headings = Array.from(links.keys());

    function mark() {
      var above = headings.filter(function (heading) {
        return heading.getBoundingClientRect().top < 120;
      });
      var here = above.length ? above[above.length - 1] : headings[0];
      links.forEach(function (link, heading) {
        if (heading === here) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    }

    var observer = new IntersectionObserver(mark, { rootMargin: "-80px 0px -60% 0px" });
    headings.forEach(function (heading) {
      observer.observe(heading);
    });
  }

  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape" && window.location.hash === "#SiteNav") {
      window.location.hash = "#Content";
      var menu = document.querySelector(".menu-link");
      if (menu instanceof HTMLElement) menu.focus();
    }
  });

  /** On a narrow screen, what finds no room in the header stands in the menu. */
  function arrange() {
    const header = document.querySelector(".site-header");
    const menu = document.querySelector("#SiteNav .nav-links");
    const before = document.querySelector(".menu-link");
    if (!header || !menu || !before) return;
    const narrow = window.matchMedia("(max-width: 55rem)");
    const parts = [...header.querySelectorAll(".versions, .theme-toggle")];
    const place = () =>
      parts.forEach((part) => (narrow.matches ? menu.before(part) : header.insertBefore(part, before)));
    narrow.addEventListener("change", place);
    place();
  }

  arrange();
  revealCurrent();
  spyOnSections();
}
