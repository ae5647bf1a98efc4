"""Texts and facts about notifications, and the texts of mails and push messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from thudmud.english import capitalised, pluralize, rounded_duration
from thudmud.errors import InvalidValueError, RefusedError
from thudmud.features.archive.messages import entry, players
from thudmud.features.notifications.commands import (
    Notify,
    NotifyOf,
    NotifyOff,
    NotifyPublished,
    NotifyQuiet,
    NotifyWay,
    Published,
)
from thudmud.features.notifications.model import (
    CODE_LASTS,
    BrowserAdded,
    CodeAsked,
    CodeTyped,
    Contact,
    Kind,
    NotificationSettings,
    NotifyChosen,
    NotifyMistake,
    NotifyRefusal,
    Ways,
    masked,
)
from thudmud.game.archive import Battle, name_or_empty
from thudmud.game.options import Options, Style, Switch
from thudmud.game.table import Table
from thudmud.views import sentences, standing
from thudmud.views.data import Fact
from thudmud.views.headlines import WIDTH, Headline, board_path
from thudmud.views.refusals import add_refusal_texts, refusal_text
from thudmud.views.registry import RenderContext, facts, words
from thudmud.views.view import Display, View
from thudmud.views.words import time_of_day, wrap, wrap_each

add_refusal_texts(
    {
        NotifyRefusal.NOTIFY_FOR_MEMBERS: (
            'Notifications are for registered players. "register" makes you one.'
        ),
        NotifyRefusal.NOTIFIES_NOBODY: ("This server doesn't send notifications."),
        NotifyRefusal.NO_MAILS: (
            'This server doesn\'t send email. "notify" shows what it offers instead.'
        ),
        NotifyRefusal.NO_MAIL_ADDRESS: (
            'This server can\'t send to that address. It needs one like "anna@example.org".'
        ),
        NotifyRefusal.MAIL_UNWANTED: (
            "The owner of that address doesn't want email from this server."
        ),
        NotifyRefusal.CODES_TOO_MANY: (
            "You can have {most} codes a day, and so can each address. Please try again tomorrow."
        ),
        NotifyRefusal.CODES_FROM_ADDRESS: (
            "Players who share your internet address can have {most} codes a day between them. The"
            " next one is available in {seconds}."
        ),
        NotifyRefusal.CODES_HELD_BACK: (
            "A lot of codes are on their way right now. Please try again in {seconds}."
        ),
        NotifyRefusal.CODE_AFTER_BATTLE: (
            'You can get email once you\'ve finished a battle here. "play" finds you an opponent.'
        ),
        NotifyRefusal.CODE_FOR_NEWCOMER: (
            "Welcome! You can get a code once you've been registered for an hour. Please try again"
            " in {seconds}."
        ),
        NotifyRefusal.NO_CODE: (
            'No code is waiting for you: each is good for an hour, and for five tries. "notify'
            ' mail" and your address gets you a new one.'
        ),
        NotifyRefusal.NO_BROWSERS: (
            'This server doesn\'t notify browsers. "notify" shows what it offers instead.'
        ),
        NotifyRefusal.NO_SUCH_SERVICE: (
            "Your browser uses a push service that this server doesn't support. Type"
            ' "notify mail" and your address instead.'
        ),
        NotifyMistake.NO_SUCH_HOURS: (
            'Write the hours like "22 to 7" in UTC, or like "22 to 7 utc+2" in your own time zone.'
        ),
        NotifyMistake.ADDRESS_WRITTEN_OTHERWISE: (
            'An email address looks like "anna@example.org".'
        ),
        NotifyMistake.CODE_HAS_SIX_DIGITS: "The code in the email has six digits.",
        NotifyRefusal.CODE_WRONG: lambda refusal, _, __: (
            f"That isn't the code in the email. You have"
            f" {pluralize(refusal.details['left'], 'try')} left."
        ),
    }
)

_ABOUT = {
    Kind.TURN: "it's your turn",
    Kind.CLOCK: "you're running short of time",
    Kind.END: "one of your battles ends",
    Kind.MESSAGE: "somebody leaves you a message",
    Kind.ROUND: "a round of your tournament begins",
}

_INDENT = "    "


def calendar_link(ways: Ways, secret: str) -> str:
    """Return the address of a calendar."""
    return f"{ways.page}/calendar/{secret}.ics"


def feed_link(page: str, player: str) -> str:
    """Return the address of a feed of ended battles."""
    return f"{page}/feed/{player}.atom"


@words.register
def _notify(_: Notify, context: RenderContext, view: View) -> list[str]:
    contact: Contact = context.answer
    return contact_lines(
        contact,
        context.hall.part(NotificationSettings).ways,
        context.player,
        context.at,
        view.width,
    )


def contact_lines(contact: Contact, ways: Ways, player: str, now: float, width: int) -> list[str]:
    """Return the lines about a player's choices, each with the command for a change."""
    if ways.are_none:
        return wrap(refusal_text(RefusedError(NotifyRefusal.NOTIFIES_NOBODY)), width)
    entries = [*_ways(contact, ways), *_kinds(contact), _quiet(contact, now)]
    entries += _published_entries(contact, ways, player)
    lines = wrap("Notifications while you're away:", width)
    for told, typed in entries:
        lines += wrap(f"  {told}", width, _INDENT, private=True)
        lines += wrap(f"{_INDENT}{typed}", width, _INDENT * 2)
    return lines + wrap('"help notify" explains them all.', width)


def _ways(contact: Contact, ways: Ways) -> Iterator[tuple[str, str]]:
    mail = "off"
    if contact.address:
        mail = f"to {masked(contact.address)}"
        if contact.is_refused:
            mail += ", which no longer accepts email"
    if contact.asked:
        yield f"mail: {mail}, and {masked(contact.asked)} is waiting for its code", _CODE
    elif ways.has_mail or contact.address:
        off = f' or "{NotifyOff(NotifyWay.MAIL)}"' if contact.address else ""
        yield f"mail: {mail}", f'"notify mail" and your address{off}'
    if ways.push or contact.browsers:
        where = pluralize(contact.browsers, "browser") if contact.browsers else "off"
        how = "switch them on in the settings of the web page"
        if contact.browsers:
            how = f'"{NotifyOff(NotifyWay.BROWSERS)}", or the settings of the web page'
        yield f"browsers: {where}", how


_CODE = '"notify code" and the six digits in the email'


def _kinds(contact: Contact) -> Iterator[tuple[str, str]]:
    for kind in Kind:
        is_on = kind not in contact.off
        on, off = NotifyOf(kind, is_on=True), NotifyOf(kind, is_on=False)
        yield f"{kind.value}: {'on' if is_on else 'off'} ({_ABOUT[kind]})", f'"{on}" or "{off}"'


def _quiet(contact: Contact, now: float) -> tuple[str, str]:
    if not contact.quiet:
        return "quiet: off", '"notify quiet 22 to 7" sets hours without notifications'
    local = time_of_day(now + 60 * contact.quiet.east)
    told = f"quiet: {contact.quiet}; it's now {local} there"
    return told, f'"{NotifyQuiet(None)}", or other hours'


def _published_entries(contact: Contact, ways: Ways, player: str) -> Iterator[tuple[str, str]]:
    if not ways.page:
        return
    on, off = (NotifyPublished(Published.CALENDAR, is_on=each) for each in (True, False))
    new = NotifyPublished(Published.CALENDAR, is_on=True, with_new_address=True)
    if contact.calendar:
        yield f"calendar: {calendar_link(ways, contact.calendar)}", f'"{off}" or "{new}"'
    else:
        yield "calendar: off (your deadlines, for a calendar app)", f'"{on}"'
    on, off = (NotifyPublished(Published.FEED, is_on=each) for each in (True, False))
    if contact.feed:
        yield f"feed: {feed_link(ways.page, player)}", f'"{off}"'
    else:
        yield "feed: off (your finished battles, for everyone to read)", f'"{on}"'


@facts.register
def _notify_facts(_: Notify, context: RenderContext) -> Iterator[Fact]:
    contact: Contact = context.answer
    ways, quiet = context.hall.part(NotificationSettings).ways, contact.quiet
    known = {
        "mail": masked(contact.address) if contact.address else None,
        "refused": contact.is_refused,
        "asked": masked(contact.asked) if contact.asked else None,
        "browsers": contact.browsers,
        "of": [each.value for each in Kind if each not in contact.off],
        "quiet": str(quiet) if quiet else None,
        "calendar": calendar_link(ways, contact.calendar) if contact.calendar else None,
        "feed": feed_link(ways.page, context.player) if contact.feed else None,
        "mails": ways.has_mail,
        "key": ways.push or None,
    }
    yield Fact("Thud.Notify", known, context.player)


@words.register
def _code_asked(asked: CodeAsked, _: RenderContext, view: View) -> list[str]:
    sent = f"A code is on its way to {masked(asked.address)}."
    lasts = f"It's good for {rounded_duration(CODE_LASTS)}."
    return wrap(f"{sent} {lasts} When it arrives, type {_CODE}.", view.width, private=True)


@words.register
def _code_typed(_: CodeTyped, __: RenderContext, view: View) -> list[str]:
    return wrap(f'You\'ll get email from now on. "{Notify()}" shows what about.', view.width)


@words.register
def _browser_added(_: BrowserAdded, __: RenderContext, view: View) -> list[str]:
    on = "This browser will notify you from now on, even while the page is closed."
    return wrap(f'{on} "{Notify()}" shows what about.', view.width)


@words.register
def _render_choice(chosen: NotifyChosen, context: RenderContext, view: View) -> list[str]:
    choice = _choice(chosen, context.hall.part(NotificationSettings).ways, context.player)
    return wrap(choice, view.width, private=True)


def _choice(chosen: NotifyChosen, ways: Ways, player: str) -> str:
    match chosen.choice:
        case NotifyOff(None):
            return "You won't get any more notifications."
        case NotifyOff(NotifyWay.MAIL):
            return "You won't get any more email, and your address is forgotten."
        case NotifyOff(NotifyWay.BROWSERS):
            return "Your browsers won't notify you any longer."
        case NotifyOf(kind, value):
            will = "You'll" if value else "You'll no longer"
            return f"{will} be notified when {_ABOUT[kind]}."
        case NotifyQuiet(None):
            return "You can be notified at any hour."
        case NotifyQuiet(hours):
            return f"You won't be notified from {hours}. What comes meanwhile will wait until then."
        case NotifyPublished(Published.CALENDAR, is_on=True, with_new_address=again):
            was = " The old one no longer works." if again else ""
            keep = f"Keep it to yourself.{was}"
            return f'Your calendar is ready: "{Notify()}" shows its address. {keep}'
        case NotifyPublished(Published.CALENDAR):
            return "Your calendar is no longer published."
        case NotifyPublished(Published.FEED, is_on=True):
            link = feed_link(ways.page, player)
            return f"Everyone can read your finished battles at {link}."
        case NotifyPublished(Published.FEED):
            return "Your feed is no longer published."
    raise InvalidValueError(f"unexpected choice: {chosen.choice!r}")


def revoked_secrets_sentence(*, calendar: bool, browsers: bool) -> str:
    """Return a sentence about secrets revoked with a member's logins; "" if there are none.

    Args:
        calendar: whether the calendar has a new address.
        browsers: whether a browser was unsubscribed.
    """
    ended = ["your calendar has a new address"] if calendar else []
    ended += ["your browsers no longer notify you"] if browsers else []
    told = ", and ".join(ended)
    return told and f'{capitalised(told)}. "{Notify()}" shows how to set it up again.'


# Mails and push messages.


class Mail(NamedTuple):
    """A mail.

    Attributes:
        subject: the subject.
        text: the body, in plain text.
    """

    subject: str
    text: str


def told_of_turn(kind: Kind, table: Table, player: str, now: float, options: Options) -> Headline:
    """Return the notification of a player's turn at a board, or of little time left."""
    seats = [each for each in table.seats.values() if each != player]
    against = f" against {seats[0]}" if seats else ""
    left = ""
    if table.clock:
        left = rounded_duration(table.clock.advanced_to(now).seconds_left(table.clock.turn))
    title = f"Your turn{against}"
    if kind is Kind.CLOCK:
        title = f"{capitalised(left)} left{against}"
    display = Display(
        width=WIDTH + 1,
        is_ascii_only=True,
        orient=options.orient,
        is_for_reader=options.reader is Switch.ON,
    )
    view = View(player, Style.FULL, display)
    told = [f"It is your turn at the {table.name}{against}.", sentences.last_ply(table, player)]
    told += [f"You have {left} left."] if left else []
    lines = [*wrap_each(told, WIDTH), "", *standing.full_board_lines(table, view)]
    return Headline(kind.value, title, told[1], tuple(lines), board_path(table.name))


def told_of_end(battle: Battle) -> Headline:
    """Return the notification of a battle's end, for its players."""
    dwarf, troll = map(name_or_empty, battle.players)
    battle = battle._replace(dwarf=dwarf, troll=troll)
    about, title = f"{capitalised(entry(battle))}.", f"Battle over: {players(battle)}"
    lines = tuple(wrap(about, WIDTH))
    return Headline(Kind.END.value, title, about, lines, f"/game/{battle.number}")


def mail_of(player: str, told: Sequence[Headline], ways: Ways, secret: str, name: str) -> Mail:
    """Return the mail with a member's notifications.

    Args:
        player: the member's name.
        told: the notifications, at least one.
        ways: the ways of notification, with the origin of the page.
        secret: the secret of the unsubscribe link.
        name: the name of the server.
    """
    subject = told[0].title if len(told) == 1 else f"{pluralize(len(told), 'notification')}"
    parts = [f"Hello {player},\n"]
    for each in told:
        parts += [*each.lines, "", f"{ways.page}{each.path}", ""]
    return Mail(f"{subject} ({name})", "\n".join([*parts, *_foot(ways, secret, player, name)]))


def code_mail(player: str, code: str, ways: Ways, secret: str, name: str) -> Mail:
    """Return the mail with the code that confirms an address."""
    asks = f"{player} at {name} wants email here. If that's you, type this there within an hour:"
    text = [*wrap(asks, WIDTH), "", f"{_INDENT}notify code {code}", "", ways.page, ""]
    not_you = "If it isn't you, ignore this email. To get no more of them, follow this link:"
    text += ["-- ", *wrap(not_you, WIDTH), end_link(ways, secret)]
    return Mail(f"Your code ({name})", "\n".join(text) + "\n")


def end_link(ways: Ways, secret: str) -> str:
    """Return the unsubscribe link."""
    return f"{ways.page}/mail/{secret}"


def _foot(ways: Ways, secret: str, player: str, name: str) -> Iterable[str]:
    why = f'You get this because {player} at {name} asked for it. "{Notify()}" there changes what'
    yield "-- "
    yield from wrap(f"{why} you hear about, and when. To unsubscribe, follow this link:", WIDTH)
    yield f"{end_link(ways, secret)}\n"
