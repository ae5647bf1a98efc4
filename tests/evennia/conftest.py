from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.web.conftest import PATIENCE, browser

__all__ = ["browser"]

BUILD = Path(__file__).parents[2] / "build"
ENVIRONMENTS = {5: BUILD / "evennia", 6: BUILD / "evennia6"}
"""The virtual environments with the supported major versions of Evennia."""
CLIENT = BUILD / "evennia" / "client" / "node_modules"
LOADED = {
    "bootstrap.min.css": "bootstrap/dist/css/bootstrap.min.css",
    "bootstrap.min.js": "bootstrap/dist/js/bootstrap.min.js",
    "favico-0.3.10.min.js": "favico.js/favico-0.3.10.min.js",
    "goldenlayout.min.js": "golden-layout/dist/goldenlayout.min.js",
    "goldenlayout-base.css": "golden-layout/src/css/goldenlayout-base.css",
    "goldenlayout-dark-theme.css": "golden-layout/src/css/goldenlayout-dark-theme.css",
    "jquery-3.2.1.min.js": "jquery/dist/jquery.min.js",
    "popper.min.js": "popper.js/dist/umd/popper.min.js",
}
"""Files that Evennia's web client loads from other hosts, and their paths in node_modules: the same
for all versions."""


@pytest.fixture(params=ENVIRONMENTS, ids="evennia{}".format)
def evennia_bin(request: pytest.FixtureRequest) -> Path:
    """Return the bin folder of an environment with each version of Evennia."""
    folder = ENVIRONMENTS[request.param]
    installed = folder.glob(f"lib/python3*/site-packages/evennia-{request.param}.*.dist-info")
    assert any(installed), f'Evennia {request.param} is missing: "make evennia" installs it'
    return folder / "bin"


@pytest.fixture
def web_page(browser: Browser) -> Iterator[Page]:
    """Yield an empty page for Evennia's web client, and check that it reports no errors."""
    assert CLIENT.exists(), 'Files of its web client are missing: "make evennia" installs them'
    context = browser.new_context(viewport={"width": 1500, "height": 900})
    context.set_default_timeout(PATIENCE)
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route(lambda url: not url.startswith("http://127.0.0.1"), _given)
    yield page
    context.close()
    assert errors == []


def _given(route: Route) -> None:
    name = route.request.url.rpartition("/")[2]
    if name in LOADED:
        allowed = {"Access-Control-Allow-Origin": "*"}  # needed for integrity hashes
        route.fulfill(path=CLIENT / LOADED[name], headers=allowed)
    else:
        route.abort()  # fonts
