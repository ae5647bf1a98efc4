"""Draws docs/architecture.svg: the packages and the imports allowed between them.

``python -m tests.architecture_picture`` writes it. Every package is above those it imports;
transitive arrows are omitted.
"""

from __future__ import annotations

from pathlib import Path

from tests.test_architecture import ARROWS, LIST

FILE = Path(__file__).parents[1] / "docs" / "architecture.svg"

LEFT_OUT = {"", LIST, "errors", "version", "english", "immutable", "values", "settings", "child"}
"""Nodes not drawn: top-level names, the list of features, and files any package may import."""

GROUPS = {
    "pure core": ("rules", "search", "pictures", "game", "language", "views"),
    "features": ("features",),
    "state": ("store", "service", "accounts"),
    "embedding": ("house", "script", "bots", "evennia"),
    "sockets and commands": ("telnet", "web", "gateway", "server", "cli"),
}
FILLS = dict(zip(GROUPS, ("#dcebdc", "#fbe7c2", "#d9e4f5", "#ece0f3", "#f3dcdc"), strict=True))

BOX_WIDTH, BOX_HEIGHT, GAP, STEP = 104, 34, 26, 78
"""In pixels: the size of a box, the gap within a row, and the distance between rows."""

MARGIN = 24


def reduced(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the transitive reduction of an acyclic graph."""

    def reached(node: str) -> set[str]:
        return arrows[node].union(*map(reached, arrows[node]))

    return {
        node: {to for to in targets if not any(to in reached(via) for via in targets)}
        for node, targets in arrows.items()
    }


def layers(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the nodes in layers, each above the targets of its nodes."""

    def level(node: str) -> int:
        return 1 + max(map(level, arrows[node]), default=-1)

    levels = {node: level(node) for node in arrows}
    order = [name for group in GROUPS.values() for name in group]
    rows = [
        sorted((node for node in arrows if levels[node] == each), key=order.index)
        for each in range(1 + max(levels.values()))
    ]
    return rows[::-1]


def drawn() -> str:
    """Return the picture as SVG."""
    allowed = {name: to - LEFT_OUT for name, to in ARROWS.items() if name not in LEFT_OUT}
    allowed["service"] |= {"features"}  # through the list of features
    arrows = reduced(allowed)
    rows = layers(arrows)
    width = 2 * MARGIN + max(len(row) * (BOX_WIDTH + GAP) - GAP for row in rows)
    height = 2 * MARGIN + len(rows) * STEP + 10
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        left = (width - len(row) * (BOX_WIDTH + GAP) + GAP) / 2
        for column, name in enumerate(row):
            places[name] = left + column * (BOX_WIDTH + GAP), MARGIN + number * STEP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="14" role="img">',
        "<title>The packages of thudmud, and which imports which</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        '<marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#667"/></marker>',
    ]
    for name, targets in arrows.items():
        x, y = places[name]
        for to in sorted(targets):
            end_x, end_y = places[to]
            lines.append(
                f'<line x1="{x + BOX_WIDTH / 2:g}" y1="{y + BOX_HEIGHT:g}" '
                f'x2="{end_x + BOX_WIDTH / 2:g}" y2="{end_y - 1:g}" stroke="#667" '
                'stroke-width="1.2" marker-end="url(#tip)"/>'
            )
    for group, names in GROUPS.items():
        for name in names:
            x, y = places[name]
            lines.append(
                f'<rect x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" '
                f'fill="{FILLS[group]}" stroke="#445"/><text x="{x + BOX_WIDTH / 2:g}" '
                f'y="{y + 22:g}" text-anchor="middle">{name}</text>'
            )
    for column, (group, fill) in enumerate(FILLS.items()):
        x, y = MARGIN + column * (width - 2 * MARGIN) / len(FILLS), height - MARGIN - 12
        lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="14" height="14" fill="{fill}" stroke="#445"/>'
            f'<text x="{x + 20:g}" y="{y + 12:g}" font-size="12">{group}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    FILE.write_text(drawn(), encoding="utf-8")
