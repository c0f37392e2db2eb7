"""What of a script is a literal, and what may be anything."""

from __future__ import annotations

import pytest

from noctule.pipeline.navigation.literals import UNREAD, OpenTable, is_certain
from noctule.pipeline.navigation.script_imports import MAX_PLACES, Script
from noctule.pipeline.navigation.sidebars import read_vitepress
from tests.processor_time import processor_seconds
from tests.unit.pipeline.navigation.conftest import exported


@pytest.mark.parametrize(
    ("script", "value"),
    [
        (
            "const a = [1]\nfunction nav() { const a = [2]; return a }\nexport default { n: nav(), a }",
            {"n": [2], "a": [1]},
        ),
        (
            "function g() { const a = [1]; return a }\nfunction r() { const a = [2]; return a }\n"
            "export default [g(), r()]",
            [[1], [2]],
        ),
        ("const a = [1]\nfunction f() { const { a } = g(); return a }\nexport default f()", UNREAD),
        ("const mode = 1\nexport default defineConfig(({ mode }) => [mode])", [UNREAD]),
        ("function f() { if (x) { return [1] } return [2] }\nexport default [f()]", [UNREAD]),
        ("function f() { return [1]; return [2] }\nexport default [f()]", [UNREAD]),
        ("const f = () => { switch (x) { case 1: } return [2] }\nexport default [f()]", [UNREAD]),
        ("function f() { let l = []; l.push(1); return l }\nexport default [f()]", [UNREAD]),
        ("const a = [1]\na.push(2)\nexport default [a]", [UNREAD]),
        ("const a = [1]\nconst b = a\nb.push(2)\nexport default [a]", [UNREAD]),
        ("function f() { a: { return [1] } return [2] }\nexport default [f()]", [UNREAD]),
        ("const a = { b: [1] }\na.b[0].c.push(2)\nexport default [a]", [UNREAD]),
        ("let a = [1]\nif (b) { a = [2] }\nexport default [a]", [UNREAD]),
        ("const a = {}\nObject.assign(a, b)\nexport default [a]", [UNREAD]),
        ("const a = [1]\naddDrafts(a)\nexport default [a]", [UNREAD]),
        ("const a = [1]\nexport default [a, a.map(b), f(a), a == 2]", [[1], UNREAD, UNREAD, UNREAD]),
        ("const a = 'x'\nconst b: string = a\nexport default [a, b]", ["x", "x"]),
        ("let a\nconst b = [1]\nexport default [a, b]", [UNREAD, [1]]),
        ("const a = [1]\nexport default a\nconst f = () => [2]", [1]),
        ("const a = [1]\nconst b = [2]\nexport { b as a, a as default }", [1]),
    ],
)
def test_a_name_is_what_its_place_declares_and_nothing_changes(script: str, value: object) -> None:
    assert exported(script) == value


def test_what_is_put_into_an_object_may_replace_what_stands_before_it() -> None:
    found = exported("export default { a: 1, ...other, b: 2 }")
    assert isinstance(found, OpenTable) and found == {"a": 1, "b": 2}
    assert [is_certain(found, key) for key in "abc"] == [False, True, False]
    assert is_certain(exported("export default { a: 1 }"), "b")
    assert not is_certain(exported("export default { [a]: 1 }"), "a")


@pytest.mark.parametrize("dividend", ["w", "2", "(w)", "w[0]", "{}"])
def test_a_slash_after_a_value_is_a_division(dividend: str) -> None:
    script = f"export default {{ a: {dividend} /2, srcExclude: ['drafts/**'], b: 3 /2 }}"
    assert Script(script, "a.ts").names("srcExclude")
    assert exported(script)["srcExclude"] == ["drafts/**"]


def test_a_template_ends_behind_what_it_computes() -> None:
    script = "export default [`a${b ? `it's ${{}}` : ''}c` /2, 1, `a\\`${'b'}${c}`]\nconst c = 'd'"
    assert exported(script) == [UNREAD, 1, "a`bd"]


@pytest.mark.parametrize(
    "part",
    ["=/[x\\]", "=/[", " /x [ ", "`${", "{`${}`", "withX((a): b),", "withX(<a),", "export {a,", "const {"],
)
def test_many_parts_of_a_script_take_time_in_proportion(part: str) -> None:
    began = processor_seconds()
    for count in (20_000, 100_000):  # within what a script may have, and above it
        exported(f"export default [{part * count}]")
        exported(part * count)
    assert processor_seconds() - began < 6


def test_thousands_of_sidebars_are_named_by_thousands_of_links() -> None:
    bar = "".join(f"{{ text: 'T{at}', link: '/x{at}/' }}," for at in range(3_000))
    trees = "".join(f"'/y{at}/': [{{ text: 'A', link: '/a' }}]," for at in range(3_000))
    began = processor_seconds()
    script = f"export default {{ themeConfig: {{ nav: [{bar}], sidebar: {{ {trees} }} }} }}"
    read_vitepress(Script(script, "config.ts"))
    assert processor_seconds() - began < 3


@pytest.mark.parametrize(
    "script",
    [
        "/*\nimport a from './b'\n*/\nexport default [a]",
        "const x = `\nimport a from './b'\n`\nexport default [a]",
        "import type a from './b'\nexport default [a]",
        "import { type a } from './b'\nexport default [a]",
        "import * as a from './b'\nexport default [a]",
        "const a = require('./b').a\nexport default [a]",
    ],
)
def test_what_is_no_import_of_a_value_is_not_followed(script: str) -> None:
    assert Script(script, "a.ts", {"b.ts": "export default 1"}.get).value == [UNREAD]


def test_an_import_never_replaces_a_name_of_the_script() -> None:
    script = "const a = 2\nimport a from './b'\nexport default [a]"
    assert Script(script, "a.ts", {"b.ts": "export default 1"}.get).value == [2]
    required = "const a = require('./b')\nexport default [a]"
    assert Script(required, "a.ts", {"b.ts": "module.exports = 1"}.get).value == [1]


def test_what_another_script_does_not_know_stays_unknown() -> None:
    found = Script("import a from './b'\nexport default a", "a.ts", BESIDE.get).value
    assert found == {"c": 1, "d": [UNREAD]} and not is_certain(found, "c") and is_certain(found, "d")


BESIDE = {"b.ts": "export default { c: 1, ...f(), d: [g()] }"}


@pytest.mark.parametrize(
    ("script", "is_unknown"),
    [
        ("import { defineConfig } from 'vitepress'\nimport type { X } from './x'", False),
        ("import './x.css'\nconst b = 1", False),
        ("import { a } from './gone'", True),
        ("import * as a from './b'", True),
        ("import base from '@scope/base'", True),
        ("export { default } from './gone'", True),
        ("export * from './gone'", True),
        ("export default import('./b')", True),
        ("module.exports = { ...require('./gone') }", True),
        ("module.exports = { ...require('./b') }", False),
        ("export { default } from './b'", False),
        ("import a from './b'", False),
    ],
)
def test_imports_that_are_not_followed_are_known(script: str, is_unknown: bool) -> None:
    assert Script(script, "a.ts", BESIDE.get).has_unknown_imports == is_unknown


def test_scripts_that_all_import_each_other_are_read_once() -> None:
    names = [f"s{at}" for at in range(12)]
    text = "".join(f"import {each} from './{each}'\n" for each in names)
    scripts = {f"{each}.ts": f"{text}export default {{ {each}: [{'1,' * 1_500}] }}" for each in names}
    began = processor_seconds()
    read = Script(f"{text}export default [s0, s11]", "a.ts", scripts.get)
    assert not read.has_unknown_imports
    assert [list(each) for each in read.value] == [["s0"], ["s11"]]
    assert processor_seconds() - began < 2


def test_scripts_that_are_not_there_are_looked_for_at_so_many_places() -> None:
    asked: list[str] = []
    many = "".join(f"import a{at} from './a{at}'\n" for at in range(4_000))
    names = ", ".join(f"a{at}" for at in range(4_000))
    assert Script(f"{many}export default [{names}]", "a.ts", asked.append).value == [UNREAD] * 4_000
    assert len(asked) == MAX_PLACES


@pytest.mark.parametrize(
    "part", ["import ", "import a ", "import {a\n", "const a = require(", "import a from './b'\n"]
)
def test_many_imports_take_time_in_proportion(part: str) -> None:
    began = processor_seconds()
    for text in (part * 10_000, part * 100_000, "import" + part[6:] * 10_000):
        script = Script(text, "a.ts", BESIDE.get)
        assert script.has_unknown_imports or script.value == UNREAD
    assert processor_seconds() - began < 6
