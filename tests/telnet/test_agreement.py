"""The Q method: every change answered once, nothing else at all, and two ends never loop."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from thudmud.telnet.negotiation import Agreement, Standing

# ruff: noqa: FBT001, FBT003  (True and False are what the two ends say to each other)


LONGEST_EXCHANGE = 8
"""Messages that two ends may need, beyond those that they were told to begin with."""

events = st.lists(st.tuples(st.sampled_from(["want", "hear"]), st.booleans()), max_size=40)


@given(events, st.booleans())
def test_an_end_sends_at_most_once_for_each_change_and_never_without_one(
    happened: list[tuple[str, bool]], welcome: bool
) -> None:
    end = Agreement()
    for kind, value in happened:
        before = end.standing
        if kind == "want":
            sent = value if end.want(value) else None
        else:
            sent = end.hear(value, welcome=welcome)
        refused = before is Standing.NO and kind == "hear" and value and not welcome
        if sent is not None:
            assert (end.standing is not before) or (refused and sent is False)
        if kind == "hear" and value is (before is Standing.YES) and before in _SETTLED:
            assert sent is None
            assert end.standing is before


_SETTLED = {Standing.YES, Standing.NO}


@given(st.lists(st.booleans(), max_size=40), st.booleans())
def test_hearing_the_same_again_is_not_answered(heard: list[bool], welcome: bool) -> None:
    end = Agreement()
    for each in heard:
        end.hear(each, welcome=welcome)
        if end.is_agreed is each:
            assert end.hear(each, welcome=welcome) is None


steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([0, 1]), st.booleans()),  # an end wants it, or does not
        st.tuples(st.sampled_from([0, 1]), st.none()),  # the next message comes in at an end
    ),
    max_size=60,
)


@given(steps, st.booleans(), st.booleans())
def test_two_such_ends_come_to_rest_and_agree(
    happened: list[tuple[int, bool | None]], first: bool, second: bool
) -> None:
    ends, welcome = (Agreement(), Agreement()), (first, second)
    wires: tuple[deque[bool], deque[bool]] = (deque(), deque())  # to either end

    def deliver(end: int) -> None:
        answer = ends[end].hear(wires[end].popleft(), welcome=welcome[end])
        if answer is not None:
            wires[1 - end].append(answer)

    sent = 0
    for end, wanted in happened:
        if wanted is None:
            if wires[end]:
                deliver(end)
        elif ends[end].want(wanted):
            sent += 1
            wires[1 - end].append(wanted)
    delivered = 0
    while wires[0] or wires[1]:
        deliver(0 if wires[0] else 1)
        delivered += 1
        assert delivered <= 2 * sent + LONGEST_EXCHANGE, "they go on for ever"
    assert ends[0].standing is ends[1].standing
    assert ends[0].standing in _SETTLED


def test_a_wish_that_changes_before_the_answer_waits_for_it() -> None:
    end = Agreement()
    assert [end.want(each) for each in (True, True, False, True, False)] == [True] + [False] * 4
    assert end.hear(True, welcome=True) is False
    assert end.want(True) is False
    assert end.hear(False, welcome=True) is True
    assert end.is_asked
    assert end.hear(True, welcome=True) is None
    assert end.is_agreed


def test_an_end_that_says_yes_to_an_end_is_not_argued_with() -> None:
    end = Agreement()
    end.want(True)
    end.hear(True, welcome=True)
    assert end.want(False)
    assert end.hear(True, welcome=True) is None
    assert end.standing is Standing.NO
