// @ts-check
// Leads from a former address to the new one with the fragment that the link had, which the page's own
// refresh loses. It runs in <head>, before that begins.

const refresh = document.querySelector('meta[http-equiv="refresh"]');
const content = (refresh && refresh.getAttribute("content")) || "";
const target = content.slice(content.indexOf("url=") + "url=".length);

// Where the redirect names a place itself, that is meant.
if (refresh && window.location.hash && target.indexOf("#") < 0) {
  window.location.replace(target + window.location.hash);
}
