from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.explorer.model import ExplorerRefusal as E
from thudmud.views.refusals import refused


def test_explorer_refusal_wording() -> None:
    assert refused(RefusedError(E.NO_EXPLORING_RATED, board="oak board")) == (
        "Your battle at the oak board counts for ratings, so nothing is explored until it is over."
    )
    assert refused(RefusedError(E.NO_EXPLORING_PLAYING, board="oak board")) == (
        "You are playing at the oak board. You can explore that battle when it is over."
    )
    assert refused(RefusedError(E.EXPLORE_LATER, number=12)) == (
        "Battle 12 is not over yet. You can explore it afterwards."
    )
