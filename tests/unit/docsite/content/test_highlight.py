"""Code on pages: titles, numbers, marked lines, terminals, annotations."""

from __future__ import annotations

from noctule.docsite.content.highlight import listing_html
from noctule.pipeline.parse.code.listing import read_listing, with_notes


def _html(info: str, code: str, in_html: bool = False) -> str:
    return listing_html(read_listing(info, code, in_html=in_html))


def test_plain_code_has_no_element_for_its_lines() -> None:
    assert _html("", "a < b\n") == '<div class="code"><pre tabindex="0"><code>a &lt; b\n</code></pre></div>'


def test_titles_numbers_and_marked_lines_are_drawn() -> None:
    html = _html('text {2} title="<x>" linenums="9"', "a\nb")
    assert html.startswith(
        '<figure class="code numbered" data-language="text"><figcaption class="code-title">&lt;x&gt;<'
    )
    assert (
        '<span class="line" data-line="9">a\n</span><span class="line marked" data-line="10">b\n</span>'
        in html
    )


def test_a_diff_has_colours_by_its_signs() -> None:
    html = _html("diff", "--- a\n-old\n+new\n same")
    assert html.count('class="line removed"') == html.count('class="line added"') == 1


def test_focus_words_and_wrapping_are_drawn() -> None:
    assert 'class="code focusing"' in _html("js", "a // [!code focus]\nb")
    assert "<mark>b</mark>" in _html("text /b/", "a b")
    assert 'class="code wrapped"' in _html("js wrap", "a")


def test_code_after_a_prompt_is_a_session() -> None:
    assert '<span class="gp">$ </span>' in _html("bash", "$ ls\nfile")
    assert '<span class="go">file</span>' in _html("bash", "$ ls\nfile")
    assert '<span class="gp">&gt;&gt;&gt; </span>' in _html("python", ">>> 1\n1")
    assert "gp" not in _html("bash", "ls $HOME")


def test_a_terminal_is_drawn_in_colours_line_by_line() -> None:
    html = _html("console", "$ <b>ls</b>\n<font color='red'>a\nb</font>", in_html=True)
    assert '<span class="gp">$ </span><span class="t-bold">ls</span>\n' in html
    assert (
        '<span class="go"><span class="t-red">a</span></span>\n<span class="go"><span class="t-red">b</span>'
        in html
    )


def test_an_annotation_is_a_link_without_text() -> None:
    html = listing_html(with_notes(read_listing("py", "x  # (1)!"), 1), "code-note-1")
    assert '<a class="annotation" href="#source-code-note-1-1" data-note="1" aria-label="1"></a>' in html
