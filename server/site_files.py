"""The files of a site, each page as HTML or, where a client prefers that, as the markdown beside it."""

from __future__ import annotations

import mimetypes
import os
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
# Not of the site, though files of its folder.
_HIDDEN = (urls.MARKER, urls.RECORD)
_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".md": MARKDOWN}


class SiteFiles(StaticFiles):
    """The files of a site, which may be replaced at any time."""

    def __init__(self, folder: Path) -> None:
        for ending, kind in _TYPES.items():
            mimetypes.add_type(kind, ending)
        super().__init__(directory=folder, html=True, check_dir=False)
        self.config_checked = True  # there may be none yet
        self._folder = folder

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file; raise ``HTTPException`` for what is not of the site."""
        if any(part in _HIDDEN for part in path.split("/")):
            raise HTTPException(404)
        response = await super().get_response(path, scope)
        response.headers.setdefault("Cache-Control", "no-cache")
        return response

    def file_response(
        self, full_path: Any, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return a file; of a page the form that the client prefers."""
        if not str(full_path).endswith(".html"):
            return super().file_response(full_path, stat_result, scope, status_code)
        accept = Headers(scope=scope).get("accept", "")
        twin = self._twin_of(Path(full_path)) if preferred(accept, (HTML, MARKDOWN)) == MARKDOWN else None
        if twin is None:
            response = super().file_response(full_path, stat_result, scope, status_code)
        else:
            response = super().file_response(twin, twin.stat(), scope, status_code)
        response.headers["Vary"] = "Accept"
        return response

    def _twin_of(self, page: Path) -> Path | None:
        """Return the markdown beside a page, if there is one."""
        folder = self._folder.resolve()
        plain, hashed = urls.twin_names(page.relative_to(folder).as_posix())
        return next((folder / each for each in (hashed, plain) if (folder / each).is_file()), None)
