"""Code blocks: their language where the renderer finds it, and no line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element, Text

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:highlight-source-|highlight-text-|highlight-|language-|lang-|sourceCode\s+|brush:\s*)"
    r"([A-Za-z0-9_+#.-]+)"
)
# One name for one language, and none for "no language": the same block must not differ by generator.
_SAME_LANGUAGE = {
    "python3": "python", "py": "python", "py3": "python", "ipython3": "python", "ipython": "python",
    "js": "javascript", "ts": "typescript", "yml": "yaml", "c++": "cpp", "golang": "go", "rs": "rust",
    "default": "", "none": "", "text": "", "plaintext": "", "plain": "", "txt": "", "literal": "",
}  # fmt: skip
_NUMBERED_TABLES = frozenset(("highlighttable", "rouge-table", "lntable", "codehilitetable", "hljs-ln"))
_NUMBER_CELLS = "td.linenos, td.gutter, td.lntd:first-child, td.hljs-ln-numbers, td.blob-num, td.line-numbers"
_NUMBERS = (
    ".linenos, .lineno, .line-number, .linenumber, .line-numbers-rows, .lnt, .ln, .gutter, .line-numbers, "
    ".react-syntax-highlighter-line-number"
)
_WRAPPERS = frozenset(("div", "figure", "td", "tr", "tbody", "table"))
_LINE_BREAK = re.compile(r"[ \t]*\n\s*")
_LINE_BLOCKS = "div, p, li"


def reshape_code(content: Element, blocks: list[Element]) -> None:
    if not blocks:
        return
    for table in content.select("table[class]"):
        if not _NUMBERED_TABLES.isdisjoint((table.attr("class") or "").split()):
            _take_out_of_table(table)
    for pre in blocks:
        if pre.parent is None or pre.has_class("lineno") or pre.has_class("linenos"):
            continue
        pre.remove(_NUMBERS)
        label = pre.previous_sibling
        if isinstance(label, Element) and label.tag == "span" and label.has_class("lang"):
            # VitePress writes the language above the block.
            label.decompose()
        _set_language(pre)
        if pre.select_one(_LINE_BLOCKS) is not None:
            _end_lines(pre)


def join_lines(content: Element) -> None:
    """Code within a sentence that goes on in the next line of the source is one line to readers."""
    for code in content.select("code, kbd, samp"):
        if "\n" not in code.text or code.closest("pre") is not None:
            continue
        for node in code.descendants:
            if isinstance(node, Text) and "\n" in node.data:
                node.data = _LINE_BREAK.sub(" ", node.data)


def _take_out_of_table(table: Element) -> None:
    """Numbers in one cell, code in the next: only the code stays."""
    table.remove(_NUMBER_CELLS)
    inner = table.select_one("pre")
    if inner is not None and table.closest("pre") is None:
        table.replace_with(inner)
        return
    rows = [row.text.strip("\n") for row in table.select("tr")]
    table.replace_with(Text("\n".join(rows) + "\n"))


def _set_language(pre: Element) -> None:
    language = next(_languages(pre), None)
    if language is None:
        return
    language = _SAME_LANGUAGE.get(language, language)
    for code in pre.select("code[class]"):
        del code.attrs["class"]
    pre.attrs["class"] = f"language-{language}" if language else ""


def _languages(pre: Element) -> Iterator[str]:
    """What the block, its code and its wrappers say the language is, nearest first."""
    code = pre.select_one("code")
    for element in (code, pre) if code is not None else (pre,):
        yield from _declared(element)
    if pre.attr("lang"):
        yield (pre.attr("lang") or "").lower()
    for steps, ancestor in enumerate(pre.ancestors):
        if steps > 3 or not isinstance(ancestor, Element) or ancestor.tag not in _WRAPPERS:
            return
        for language in _declared(ancestor):
            # The class of a wrapper of several blocks says nothing about one of them.
            if len(ancestor.select("pre")) == 1:
                yield language
            return


def _declared(element: Element) -> Iterator[str]:
    found = _LANGUAGE.search(element.attr("class") or "")
    if found is not None:
        yield found[1].lower()
    for name in ("data-lang", "data-language"):
        if value := element.attr(name):
            yield value.lower()


def _end_lines(pre: Element) -> None:
    """Highlighters that make a block of each line leave no line breaks between them."""
    for line in pre.select(_LINE_BLOCKS):
        if line.next_sibling is not None and not line.text.endswith("\n"):
            line.append(Text("\n"))
    pre.strip_tags("div, p, li, ol, ul")
