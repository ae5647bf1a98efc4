"""Loading the page takes few round trips and few bytes."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Browser, Route, expect

from benchmarks.page import COLUMNS, LINES, rows
from tests.web.conftest import Served, Visit
from thudmud.web import site
from thudmud.web.bundler import bundle_modules, bundle_styles
from thudmud.web.site import files

MOST_BYTES = 90_000
"""Budget of compressed bytes for a first visit; Slow 3G brings 50,000 a second."""


def test_first_visit_needs_one_response(served: Served, visit: Visit) -> None:
    player = visit("/nothing.txt")

    def refuse_others(route: Route) -> None:
        """Let only the page itself through, not what it loads later."""
        refused = route.request.resource_type != "document"
        route.abort() if refused else route.continue_()

    player.page.route("**/*", refuse_others)
    player.page.goto(served.address)
    player.come_in("Onetrip")
    expect(player.page.locator("#lobby-title")).to_be_visible()
    player.page.unroute_all()
    player.errors.clear()  # of the refused requests


def test_link_needs_two_levels_of_responses(served: Served, visit: Visit) -> None:
    html = httpx.get(f"{served.address}/board/oak%20board").text
    named = set(re.findall(r'(?:href|src)="(/[^"]+)"', html))
    later: list[str] = []
    player = visit("/nothing.txt")
    player.errors.clear()  # of the missing page
    player.page.on("request", lambda each: later.append(each.url.removeprefix(served.address)))
    player.page.goto(f"{served.address}/board/oak%20board")
    player.sees(A6="dwarf")
    assert set(later) - named == {"/board/oak%20board"}


def test_first_visit_stays_within_its_budget() -> None:
    assert len(files()["/start.html"].packed) < MOST_BYTES
    linked = ("/index.html", "/thud.js", "/thud.css")
    assert sum(len(files()[name].packed) for name in linked) < MOST_BYTES


def test_page_continues_a_connection_with_early_messages(served: Served, visit: Visit) -> None:
    """Must hold when the connection is open long before the modules run."""
    player = visit("/nothing.txt")
    player.errors.clear()
    held: list[Route] = []
    player.page.route("**/thud.js", lambda route: held.insert(0, route))
    with player.page.expect_websocket() as opened:
        player.page.goto(f"{served.address}/board/oak%20board", wait_until="commit")
    assert opened.value.url.endswith("/ws")
    sockets: list[str] = []
    player.page.on("websocket", lambda each: sockets.append(each.url))
    player.page.wait_for_function("() => document.readyState !== 'loading'")
    held[0].continue_()
    player.sees(A6="dwarf")
    assert sockets == [], "the modules use the connection that there is"


def test_bundle_has_modules_in_topological_order() -> None:
    sources = {
        "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\n\nb(c);\n',
        "b.js": 'import { c } from "./c.js";\n/** A\n * B */\nexport function b() {\n  c;\n}\n',
        "c.js": "// One.\nexport const c = (/** @type {any} */ (1)); // one\n",
    }
    assert bundle_modules("a.js", sources.__getitem__).splitlines() == [
        "const{c}=(()=>{",
        "const c=((1));",
        "return{c};",
        "})();",
        "const{b}=(()=>{",
        "function b(){c;}",
        "return{b};",
        "})();",
        "(()=>{",
        "b(c);",
        "})();",
    ]


def test_exports_hide_no_names_of_the_browser(visit: Visit) -> None:
    """Must hold since they are constants of the whole bundle: other modules mean the browser's."""
    script = files()["/thud.js"].body.decode()
    names = [
        name
        for line in re.findall(r"^return\{(.*)\};$", script, re.MULTILINE)
        for name in line.split(",")
    ]
    player = visit("/nothing.txt")
    hidden = player.page.evaluate("names => names.filter((each) => each in window)", names)
    assert "byId" in names
    assert hidden == ["open"]  # no module opens windows
    player.errors.clear()  # of the missing page


def test_modules_that_export_the_same_name_are_not_bundled() -> None:
    sources = {
        "a.js": 'import { c } from "./b.js";\nimport { d } from "./d.js";\n',
        "b.js": "export const c = 1;\n",
        "d.js": "export const c = 2;\nexport const d = c;\n",
    }
    with pytest.raises(ValueError, match=r"b\.js and d\.js both export c"):
        bundle_modules("a.js", sources.__getitem__)


def test_bundle_keeps_the_space_in_strings_and_expressions() -> None:
    lines = (
        'a("b , c", x === y);',
        "b = `c , ${d ? ` e` : ''}`;",
        "c = / , /;",
        "d = 'e , f';",
    )
    source = "".join(f"{line}\n" for line in lines)
    assert 'a("b , c",x===y);' + "".join(lines[1:]) in bundle_modules(
        "a.js", {"a.js": source}.__getitem__
    )


def test_bundle_keeps_the_space_in_template_strings() -> None:
    source = "a = b ? `c , ${d(e)} , ` : `${f} ` + g;\n"
    bundle = bundle_modules("a.js", {"a.js": source}.__getitem__)
    assert "a=b?`c , ${d(e)} , `:`${f} ` + g;" in bundle


def test_bundle_joins_lines() -> None:
    source = "if (a)\n  b();\nelse\n  c\n    ? d\n    : e;\n"
    assert "if(a)\nb();else\nc?d:e;" in bundle_modules("a.js", {"a.js": source}.__getitem__)


def test_bundle_has_no_trailing_commas() -> None:
    source = "a(\n  b,\n  [\n    c,\n  ],\n);\n"
    assert "a(b,[c]);" in bundle_modules("a.js", {"a.js": source}.__getitem__)


def test_bundle_needs_no_semicolons() -> None:
    lines = "const a=f()", "const b=[a]", "const c={b}", "c.d=1"
    source = "".join(f"{line}\n" for line in lines)
    bundle = bundle_modules("a.js", {"a.js": source}.__getitem__)
    assert "\n".join(lines) in bundle


def test_style_bundle_has_no_comments_or_needless_space() -> None:
    sheets = "a :hover,\nb {\n  /* red */\n  color: red;\n}\n", "b {\n}\n"
    assert bundle_styles(sheets) == "a :hover,b{color:red}b{}"


def test_page_sources_suit_the_bundler() -> None:
    script = files()["/thud.js"].body.decode()
    assert not re.search(r"^(?:import|export)\b|\bimport\(|\bimport\.meta\b", script, re.MULTILINE)
    spanning = [line for line in script.splitlines() if line.count("`") % 2]
    assert spanning == [], "a string spans lines"


def test_script_with_an_end_tag_is_not_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "without_comments", lambda _: "'</script>'")
    with pytest.raises(ValueError, match="early"):
        files.__wrapped__()


def test_benchmark_compares_the_page_to_a_bare_one(browser: Browser, served: Served) -> None:
    first, again = rows(browser, f"{served.address}/", 1, LINES[:1])
    assert 0 < first.page.seconds <= first.page.connected
    assert first.page.kib > first.bare.kib / 1.1 > again.page.kib
    assert first.bare.seconds > 0
    assert len(first.cells) == len(COLUMNS)
