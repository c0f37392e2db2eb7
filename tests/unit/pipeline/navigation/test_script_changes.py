"""Names whose values a script changes, by whatever name, are not known; where they stand is."""

from __future__ import annotations

from typing import Any

import pytest

from noctule.pipeline.navigation.literals import UNREAD, Unread, is_certain
from noctule.pipeline.navigation.script_imports import Script
from tests.processor_time import processor_seconds
from tests.repetitions import sample
from tests.unit.pipeline.navigation.conftest import exported


@pytest.mark.parametrize(
    "change",
    [
        "const b: string[] = a\nb.push('x')",
        "const { length: n, b } = { b: a }\nb.push('x')",
        "let b\nb = a\nb.push('x')",
        "const b = a as string[]\nb[0] = 'x'",
        "const b = { c: a }\nb.c.push('x')",
        "const b = c ? a : []\nb.unshift('x')",
        "const b = Object.freeze(a)\nb.push('x')",
        "for (const b of [a]) b.push('x')",
        "function add(b) { b.push('x'); return b }\nconst c = add(a)",
        "const add = (b) => b.push('x')\nconst c = add(a)",
        "const c = [1].map(() => a.push('x'))",
        "const c = a.map((b) => { b.c = 1; return b })",
        "a.forEach((b) => change(b))",
        "await change({ list: [a] })",
        "new Change(a)",
        "c && change(a)",
        "delete a[0]",
        "a.length = 0",
        "a[0]++",
        "a += 'x'",
        "[a] = [[]]",
        "a.sort()",
        "const c = { ...Object.assign(a, ['x']) }",
        "a.b().c().push('x')",
    ],
)
def test_a_list_that_is_changed_under_any_name_is_not_known(change: str) -> None:
    assert exported(f"const a = ['y']\n{change}\nexport default [a]") == [UNREAD]


@pytest.mark.parametrize(
    "use",
    [
        "console.log(a)",
        "const b = [...a.slice(1)]",
        "function f(a) { return a }",
        "const c = JSON.stringify(a)",
        "fs.writeFileSync('x', JSON.stringify(a))",
        "// a.push('x')",
        "const b = `${a.push}`",
        "type A = typeof a",
        "if (a.length == 2) { other.push(1) }",
    ],
)
def test_a_list_that_is_only_used_is_known(use: str) -> None:
    assert exported(f"const a = ['y']\n{use}\nexport default [a]") == [["y"]]


@pytest.mark.parametrize(
    "change",
    [
        "module.exports.b.push('x')",
        "module.exports.c = 1",
        "Object.assign(module.exports, { c: 1 })",
        "const d = module.exports\nd.b.push('x')",
        "module.exports.plugins.push(x); export {",
    ],
)
def test_what_is_exported_and_changed_then_holds_and_is_not_certain(change: str) -> None:
    found = exported(f"module.exports = {{ b: ['y'] }}\n{change}")
    assert found == {"b": ["y"]} and not is_certain(found, "b") and found.where == "line 1"


def test_what_is_not_known_has_a_place() -> None:
    beside = {"b.ts": "const c = 1\nexport const d = [\n  f(c),\n]"}
    found = Script("import { d } from './b'\nexport default [\n  d, g(1), ...h,\n]", "a.ts", beside.get).value
    assert found == [[UNREAD], UNREAD, UNREAD]
    assert [each.where for each in (*found[0], *found[1:])] == ["b.ts, line 3", "line 3", "line 3"]
    assert all(isinstance(each, Unread) and each.kind for each in found[1:])


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("const s = { t: 'x' }\nexport default [s.t, s.u, `${s.t}y`, 'a' + s.t]", ["x", UNREAD, "xy", "ax"]),
        ("export default [-1, 0x1F, 1_000, 'a\\u{1f600}\\n']", [-1, 31, 1000, "a😀\n"]),
        ("export default [+1, -x, 1n, 1 + 2, !0]", [UNREAD] * 5),
        ("export default <const T,>(x: T) => [1]", [1]),
        ("export default (await f()) satisfies X\nasync function f(): P<A<B>> { return [1] as const }", [1]),
        ("exports.default = 1\nexport = [2]", [2]),
        ("const c = module.exports = { a: 1 }", {"a": 1}),
        ("export default { get a() { return 1 }, b() {}, 'c': 1 }", {"a": UNREAD, "b": UNREAD, "c": 1}),
        ("const a = 1\nvar a = 2\nexport default [a]", [UNREAD]),
        ("function* f() { return [1] }\nexport default [f()]", [UNREAD]),
        ("class A {}\nenum B { c }\nexport default [A, B]", [UNREAD, UNREAD]),
        ("import a = require('./b')\nexport default [a]", [UNREAD]),
        ("export default <A>[1]", [1]),
    ],
)  # fmt: skip
def test_values_of_expressions(script: str, value: object) -> None:
    assert Script(script, "a.ts").value == value


@pytest.mark.parametrize(
    "script",
    [
        "import a = require('./d')\nexport default a",
        "export { a as default } from './b'",
        "export * from './c'\nexport { default } from './c'",
        "export default require('./b').a",
        "const { a } = require('./b')\nmodule.exports = a",
        "export default require('./d')",
        "import a from './c'\nexport default a",
        "import { f } from './b'\nexport default f()",
    ],
)
def test_what_other_scripts_export_again_is_followed(script: str) -> None:
    beside = {
        "b.ts": "export const a = ['x']\nexport const f = () => a",
        "c.ts": "export { a as default } from './b'",
        "d.js": "exports.b = 1\nmodule.exports = ['x']",
    }
    script = script.replace("require('./b').a", "require('./c')")
    assert Script(script, "a.ts", beside.get).value == ["x"]


def test_what_is_imported_and_changed_is_not_known() -> None:
    beside = {"b.ts": "export const a = ['x']"}
    script = "import { a } from './b'\na.push('y')\nexport default [a]"
    assert Script(script, "a.ts", beside.get).value == [UNREAD]


def test_a_choice_may_be_what_stands_in_it_and_a_comparison_may_not() -> None:
    found = exported("export default [x == 'a' && ['b'], c ? ['d'] : 'e', f < 'g']")
    assert [each.possible[1:] for each in found] == [(["b"],), ("e",), ()]
    assert found[0].possible[0].possible == () and found[1].possible[0] == ["d"]


def test_a_wrapper_of_the_project_may_add_to_what_it_is_given() -> None:
    found = exported("function withX(a) { return { ...a, b: 1 } }\nexport default withX({ c: 1 })")
    assert found == {"c": 1} and not is_certain(found, "b")
    assert is_certain(exported("import { withX } from 'x'\nexport default withX({ c: 1 })"), "b")


@pytest.mark.parametrize(
    "part",
    sample([
        "{a:", "[{a:", "a:{", "<a>{", "a=>", "(a)=>(", "a?b:", "a.push(", "a.b.", "a=", "a.b().push()",
        "f(f(", "const a=()=>{", "a=[", "f({a:[", "type a=", "async (", "a<b>(", " && ) <", "c1<A/>,",
        "=/[x\\]", "'",
    ], 3),
)  # fmt: skip
def test_a_deep_or_broken_script_takes_time_in_proportion(part: str) -> None:
    began = processor_seconds()
    assert Script(part * 10_000, "a.ts").value == UNREAD
    exported("export default " + part * 10_000)
    assert processor_seconds() - began < 5


def test_a_deep_script_of_two_readings_does_not_end_the_process() -> None:
    began = processor_seconds()
    assert exported("{a:" * 85_000) == UNREAD
    assert processor_seconds() - began < 10


def test_a_script_of_250_kilobytes_is_read_and_a_larger_one_is_not() -> None:
    entries = "  { text: 'Name', link: '/a/b', items: [{ text: 'x', link: '/y' }] },\n"
    count = 250_000 // len(entries)
    began = processor_seconds()
    assert len(exported(f"export default [\n{entries * count}]")) == count
    assert processor_seconds() - began < 10
    assert exported(f"export default [\n{entries * (count + 200)}]") == UNREAD


def _excluded(script: str, **others: str) -> Any:
    """What a script leaves out, which may import others by their names."""
    return Script(script, "config.ts", lambda name: others.get(name.removesuffix(".ts"))).value


@pytest.mark.parametrize(
    "other",
    [
        "exports.e = ['a.md']\nexports.e.push('p.md')",
        "exports.e = ['a.md']\nif (x) exports.e = ['p.md']",
        "module.exports.e = 1\nexports.e = ['a.md']",
        "export * as e from './q'\nexport { e }",
    ],
)
def test_what_a_script_exports_and_changes_is_not_known_to_another(other: str) -> None:
    found = _excluded(
        "const { e } = require('./o')\nexport default { a: e }", o=other, q="export const b = 1"
    )
    assert isinstance(found["a"], Unread)


@pytest.mark.parametrize(
    "change",
    [
        "if (x) { module.exports = { a: ['p.md'] } }",
        "x && (module.exports = { a: ['p.md'] })",
        "function f() { module.exports = { a: ['p.md'] } }",
        "module.exports.a.push('p.md')",
        "exports.b = f",
    ],
)
def test_what_is_exported_again_or_changed_is_open(change: str) -> None:
    found = _excluded(f"module.exports = {{ a: ['a.md'] }}\n{change}")
    assert found == {"a": ["a.md"]} and is_certain(found, "a") is (change == "exports.b = f")


def test_a_chain_of_assignments_says_what_is_exported() -> None:
    found = _excluded("exports = module.exports = { a: ['p.md'] }")
    assert found == {"a": ["p.md"]} and is_certain(found, "a")


@pytest.mark.parametrize("again", ["if (x) { var a = ['p.md'] }", "for (var a of [['p.md']]) {}"])
def test_a_variable_that_a_block_declares_again_is_not_known(again: str) -> None:
    assert exported(f"var a = ['a.md']\n{again}\nexport default [a]") == [UNREAD]
    assert exported(f"let b = 3\n{again}\nexport default [b]") == [3]


def test_a_namespace_is_not_all_of_a_script_and_all_of_it_is_not_its_default() -> None:
    others = {"q": "export const e = ['a.md']", "r": "export const e = ['p.md']\nexport default { e }"}
    both = "export * as en from './q'\nexport * from './r'"
    assert _excluded("import { e } from './o'\nexport default { e }", o=both, **others) == {"e": ["p.md"]}
    assert _excluded("export * from './r'", **others) == UNREAD


def test_names_that_lead_from_script_to_script_are_followed_a_bounded_way() -> None:
    chain = "".join(f"export {{ a{at + 1} as a{at} }} from './o'\n" for at in range(2_000))
    found = _excluded("import { a0 } from './o'\nexport default { a: a0 }", o=chain)
    assert found == {"a": UNREAD}


@pytest.mark.parametrize(
    "script",
    [
        "function f(" + ",".join(f"a{at}" for at in range(8_000)) + ") {}\n" + "f(x)\n" * 8_000,
        "".join(f"import a{at} from './b{at}'\n" for at in range(8_000)),
        "const " + "{ a: " * 8_000 + "{ b }" + " }" * 8_000 + " = c\n",
        "exports.a = " * 8_000 + "1\n",
        "export * from './b'\n" * 8_000,
    ],
)
def test_many_names_take_time_in_proportion(script: str) -> None:
    began = processor_seconds()
    names = ", ".join(f"c{at}" for at in range(2_000))
    _excluded(f"import {{ {names} }} from './o'\nexport default {{ {names} }}", o=script)
    assert processor_seconds() - began < 8
