/* sources 4e6776ecce4e9d5e */
"use strict";(()=>{var t=document.querySelector('meta[http-equiv="refresh"]'),e=t&&t.getAttribute("content")||"",n=e.slice(e.indexOf("url=")+4);t&&window.location.hash&&n.indexOf("#")<0&&window.location.replace(n+window.location.hash);})();
