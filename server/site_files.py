"""The files of a site, each page as HTML or, where a client prefers that, as the markdown beside it."""

from __future__ import annotations

import errno
import mimetypes
import os
import stat
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from ..docsite import urls
from .negotiation import preferred

HTML, MARKDOWN = "text/html", "text/markdown"
# Other hidden names are not of the site, though files of its folder: its own record, ``.git``, ``.env``.
_SHOWN = (".", ".well-known")
_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".md": MARKDOWN}


class SiteFiles(StaticFiles):
    """The files of a site, which may be replaced at any time.

    Unless ``is_shared``, pages elsewhere load none of its scripts, whose data a script may read; images they
    may show.
    """

    def __init__(self, folder: Path, *, is_shared: bool = False) -> None:
        for ending, kind in _TYPES.items():
            mimetypes.add_type(kind, ending)
        super().__init__(directory=folder, html=True, check_dir=False)
        self.config_checked = True  # there may be none yet
        self._folder, self._is_shared = folder, is_shared

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file; raise ``HTTPException`` for what is not of the site."""
        if any(part.startswith(".") and part not in _SHOWN for part in path.split("/")):
            raise HTTPException(404)
        response = await super().get_response(path, scope)
        response.headers.setdefault("Cache-Control", "no-cache")
        if not (self._is_shared or str(mimetypes.guess_type(path)[0]).startswith("image/")):
            response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return where a file lies, and what it is if it is there and reached by no link that leads out."""
        try:
            return super().lookup_path(path)
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link to itself
                return "", None
            raise

    def file_response(
        self, full_path: Any, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return a file; of a page the form that the client prefers."""
        if not str(full_path).endswith(".html"):
            return super().file_response(full_path, stat_result, scope, status_code)
        accept = Headers(scope=scope).get("accept", "")
        is_liked = preferred(accept, (HTML, MARKDOWN)) == MARKDOWN
        twin = self._twin_of(Path(full_path)) if is_liked else None
        path, found = twin or (full_path, stat_result)
        response = super().file_response(path, found, scope, status_code)
        response.headers["Vary"] = "Accept"
        return response

    def _twin_of(self, page: Path) -> tuple[str, os.stat_result] | None:
        """Return the markdown beside a page and what it is, if there is one."""
        plain, hashed = urls.twin_names(page.relative_to(self._folder.resolve()).as_posix())
        for name in (hashed, plain):
            path, found = self.lookup_path(name)
            if found is not None and stat.S_ISREG(found.st_mode):
                return path, found
        return None
