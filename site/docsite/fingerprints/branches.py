"""Fingerprints of a page's navigation, crumbs and neighbours in reading order, without listing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..incremental.columns import DIGEST_BYTES, digest, digest_of_texts
from ..outline import navigation
from ..outline.all_pages import AllPages
from ..outline.navigation import NavItem, Node, Tree


def navigation_digests(tree: Tree, listing: AllPages) -> Mapping[str, bytes]:
    """Return for each page a digest of what its navigation and its crumbs show."""
    if len(tree.order) <= navigation.WHOLE_TREE_PAGES:
        whole = digest(*_all_nodes(tree.roots, listing))
        return {page: digest(whole, page.encode()) for page in tree.pages}
    outside = {page: navigation_digest(navigation.items_for(tree, page), listing) for page in tree.hidden}
    return {**outside, **dict(_walk(tree.roots, b"", listing))}


def navigation_digest(items: Sequence[NavItem], listing: AllPages) -> bytes:
    """Return a digest of one page's navigation, for pages that are outside the tree."""
    return digest(*(_item(item, listing) for item in items))


def _item(item: NavItem, listing: AllPages) -> bytes:
    state = bytes([item.current, item.is_open]) + _left_out(item.before, item.after)
    return digest(_shown(item.node, listing), state, *(_item(each, listing) for each in item.items))


def _shown(node: Node, listing: AllPages) -> bytes:
    """Return what is shown of a node wherever it appears."""
    return digest_of_texts(node.label, node.page or node.url, node.key, listing.page_of[node.key])


def _all_nodes(nodes: Sequence[Node], listing: AllPages) -> Iterator[bytes]:
    for node in nodes:
        yield digest(_shown(node, listing), *_all_nodes(node.children, listing))


def _walk(nodes: Sequence[Node], above: bytes, listing: AllPages) -> Iterator[tuple[str, bytes]]:
    """Yield the pages in and below these siblings; ``above`` stands for all that is shown of the levels
    above.
    """
    shown = b"".join(_shown(node, listing) for node in nodes)
    for place, node in enumerate(nodes):
        way = digest(above, _window(shown, place, len(nodes)))
        if node.page is not None:
            yield node.page, digest(way, _below(node.children, listing))
        yield from _walk(node.children, way, listing)


def _below(nodes: Sequence[Node], listing: AllPages) -> bytes:
    end = navigation.window(0, len(nodes))[1]
    return digest(*(_shown(node, listing) for node in nodes[:end]), _left_out(0, len(nodes) - end))


def _window(shown: bytes, centre: int, count: int) -> bytes:
    """Return the siblings around the one on the path, its index, and the sides on which some are left out."""
    start, end = navigation.window(centre, count)
    place = str(centre - start).encode()
    return digest(shown[start * DIGEST_BYTES : end * DIGEST_BYTES], place, _left_out(start, count - end))


def _left_out(before: int, after: int) -> bytes:
    return bytes([before > 0, after > 0])
