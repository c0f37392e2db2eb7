"""Raw HTML in markdown, kept from swallowing the page.

An author who writes about ``<textarea>`` and forgets the code marks opens one: the sanitiser then drops all that
follows, to the end of the page. Such a tag, where nothing closes it, is shown as text.
"""

from __future__ import annotations

import re

# Elements whose content the sanitiser drops, or whose content a browser reads as text.
_SWALLOWING = re.compile(
    r"<(?=(script|style|template|noscript|iframe|object|svg|math|select|textarea|noembed|noframes|xmp|plaintext"
    r"|title|audio|video|canvas|applet)\b)",
    re.IGNORECASE,
)


def contained(html: str, rest: str = "") -> str:
    """The HTML in which tags that would swallow ``rest`` and all after it are text."""
    if not _SWALLOWING.search(html):
        return html
    after = (html + rest).lower()

    def shown(found: re.Match[str]) -> str:
        closed = after.find(f"</{found[1].lower()}", found.end()) >= 0
        return found[0] if closed else "&lt;"

    return _SWALLOWING.sub(shown, html)
