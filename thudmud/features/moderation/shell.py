"""The ``thudmud user reports`` subcommand, see `thudmud.game.feature.UserAction`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from thudmud.english import pluralize
from thudmud.errors import CommandError
from thudmud.features.moderation import storage
from thudmud.features.moderation.model import MOST_REPORTS
from thudmud.game.feature import UserAction
from thudmud.views.words import minute

if TYPE_CHECKING:
    from thudmud.store import Store


async def _reports(store: Store, options: Any) -> Iterable[str]:
    """List the reports, or close one."""
    if options.close is not None:
        if not await store.write(partial(storage.close_report, number=options.close)):
            raise CommandError(
                f'no open report {options.close}: "thudmud user reports" lists the open ones'
            )
        return [f"closed report {options.close}"]
    lines: list[str] = []
    which = partial(storage.reports, open_only=not options.all, most=MOST_REPORTS)
    found = await store.read(which)
    for each in reversed(found):
        closed = "" if each.is_open else "  closed"
        by = each.by or "a former member"
        about = f"{by} about {each.about}: {each.text}{closed}"
        lines.append(f"{each.number:>4}  {minute(each.at)}  {about}")
        lines += (f"          heard from {each.about}: {line}" for line in each.said)
    return [*lines, pluralize(len(found), "report")]


USER_ACTIONS = (
    UserAction(
        "reports",
        "list players' reports about others",
        _reports,
        {
            "--all": {"action": "store_true", "help": "list closed ones, too"},
            "--close": {
                "type": int,
                "metavar": "NUMBER",
                "help": "close the report with this number instead of listing them",
            },
        },
        lambda options: options.close is None,
    ),
)
