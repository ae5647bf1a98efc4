"""Sending notifications by mail through relays that accept, stall, refuse or hang up."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import default
from itertools import product
from pathlib import Path

import pytest
import trustme
from aiosmtplib.email import flatten_message
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tests.features.letters.letters import forget
from tests.features.letters.test_reactors import Clock
from tests.features.notifications.test_service import WAYS, confirmed, made, waiting
from tests.features.tournaments.test_reactors import SOON, Cup
from tests.server.plain import PATIENCE
from tests.server.relays import Handler, relaying, replying
from tests.service.place import Place
from tests.service.stores import SlowStore
from thudmud.errors import StartError
from thudmud.features.notifications import smtp, storage
from thudmud.features.notifications.messages import Mail
from thudmud.features.notifications.model import NotificationSettings, is_address
from thudmud.features.notifications.notifier import (
    NeverSentError,
    Notifier,
    NotifyPolicy,
    NotSentError,
)
from thudmud.features.notifications.reactors import follow_members
from thudmud.features.notifications.settings import MailSettings
from thudmud.features.notifications.smtp import Relay
from thudmud.features.playing.moves import Resign
from thudmud.game.clocks import DAY
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.language import clean
from thudmud.store import Holder, NotWrittenError, Store, accounts
from thudmud.store.database import Database

MINUTE = 60.0
POLICY = NotifyPolicy(gap=15 * MINUTE, per_hour=5, name="Thud", pace=0.0, wait=MINUTE)
AUTHORITY = trustme.CA()


class Post:
    """A place whose members get mails, and the notifier that sends them."""

    def __init__(self, place: Place, clock: Clock, port: int, folder: Path) -> None:
        self.place, self.clock, self.port, self.folder = place, clock, port, folder
        self.notifier = self.new()

    def new(self, policy: NotifyPolicy = POLICY, **changed: object) -> Notifier:
        """Return a fresh notifier, as after a restart."""
        relay = Relay(self.settings(**changed), self.folder, policy.name)
        return Notifier(self.place.hall, self.place.service.store, relay, None, policy)

    def settings(self, **changed: object) -> MailSettings:
        known = {"relay": "127.0.0.1", "port": self.port, "tls": "none"}
        return MailSettings.model_validate({**known, "sender": "thud@example.org", **changed})

    async def after(self, seconds: float) -> None:
        """Advance the clock and send the mails that are due."""
        self.clock.now += seconds
        self.place.now = self.clock.now
        await self.notifier.look(mails=True)


@pytest.fixture
def relay() -> Handler:
    return Handler()


@pytest.fixture
async def post(relay: Handler, tmp_path: Path) -> AsyncIterator[Post]:
    """Yield a place where Anna, now offline, and Bert play by correspondence and get mails."""
    clock = Clock()
    place = await made(Store.in_memory(clock=clock))
    async with relaying(relay) as port:
        await confirmed(place, "Anna", "Bert")
        await place.type("Anna", "join game as dwarf on oak board", "set clock 3 days")
        await place.type("Bert", "join game as troll on oak board", "start")
        await place.type("Anna", "move a6 b6")
        await place.leave("Anna")
        yield Post(place, clock, port, tmp_path)


def text_of(mail: EmailMessage) -> str:
    """Return the text of a mail with its line ends converted to newlines."""
    text: str = mail.get_content()
    return text.replace("\r\n", "\n")


async def plies(post: Post) -> None:
    """Make a move by Bert, which is news to Anna."""
    await post.place.type("Bert", "move g7 f7")


class TestMails:
    async def test_mail_has_the_board_a_link_and_an_unsubscribe_link(
        self, post: Post, relay: Handler
    ) -> None:
        await plies(post)
        await post.after(MINUTE)
        [mail] = relay.mails
        assert relay.to == ["Anna@example.org"]
        assert mail["To"] == "Anna@example.org"
        assert mail["From"] == "Thud <thud@example.org>"
        assert mail["Subject"] == "Your turn against Bert (Thud)"
        assert mail["Auto-Submitted"] == "auto-generated"
        assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        text = text_of(mail)
        assert text.isascii()
        assert text.startswith(
            "Hello Anna,\n\n"
            "It is your turn at the oak board against Bert.\n"
            "Move 2: Bert moves the troll from G7 to F7.\n"
            "You have 3 days left.\n\n"
        )
        board = await post.place.type("Bert", "set board full on oak board", "look at oak board")
        rows = [line[:36] for line in board.split("\n") if ". . . . ." in line]
        assert len(rows) > 10
        assert all(row in text for row in rows)
        assert "\nhttps://example.org/board/oak%20board\n" in text
        end = mail["List-Unsubscribe"].strip("<>")
        assert end.startswith("https://example.org/mail/")
        assert text.rstrip().endswith(end)
        assert max(map(len, text.split("\n"))) <= 80
        assert await post.place.service.store.write(storage.end_mails, end.rpartition("/")[2])
        await post.place.type("Bert", "message anna Ho!")
        await post.after(DAY)
        assert len(relay.mails) == 1

    async def test_banned_member_gets_no_mails_until_the_ban_ends(
        self, post: Post, relay: Handler
    ) -> None:
        ban = Sanction(Measure.BAN, "Anna", until=post.clock.now + DAY)
        post.place.hall.order = Order(bans={"anna": ban})
        await plies(post)
        await post.after(MINUTE)
        assert not await post.place.service.store.read(storage.due, mails=True)
        await post.after(DAY)
        await post.place.type("Bert", "message anna Ho!")
        await post.after(MINUTE)
        assert [mail["Subject"] for mail in relay.mails] == ["1 new message (Thud)"]

    async def test_mail_in_reader_mode_describes_the_board_in_words(
        self, post: Post, relay: Handler
    ) -> None:
        store = post.place.service.store
        await store.write(accounts.set_preferences, "Anna", {"options": ["options reader on"]})
        await plies(post)
        await post.after(MINUTE)
        text = text_of(relay.mails[0])
        assert " . . " not in text
        assert "\nDwarfs, you: 32 left.\n" in text

    async def test_code_is_mailed_at_once(self, post: Post, relay: Handler) -> None:
        await post.place.type("Bert", "notify mail new@example.org")
        await post.after(0)
        [mail] = relay.mails
        assert relay.to == ["new@example.org"]
        assert mail["Subject"] == "Your code (Thud)"
        text = text_of(mail)
        [line] = [line.strip() for line in text.split("\n") if "notify code" in line]
        assert "/mail/" in text
        assert "You'll get email" in await post.place.type("Bert", line)
        await post.after(DAY)
        assert len(relay.mails) == 1

    async def test_mail_combines_news_and_the_next_waits_for_the_gap(
        self, post: Post, relay: Handler
    ) -> None:
        await plies(post)
        await post.after(MINUTE / 2)
        assert relay.mails == []
        await post.place.type("Bert", "message anna Ho!", "message anna Well?")
        await post.after(MINUTE / 2)
        assert relay.mails[0]["Subject"] == "2 notifications (Thud)"
        text = text_of(relay.mails[0])
        assert 'You have 2 new messages: "messages" shows them.' in " ".join(text.split())
        assert "Ho!" not in text
        await post.place.type("Bert", "message anna Hello?")
        for minutes in (1, 5, 8):
            await post.after(minutes * MINUTE)
            assert len(relay.mails) == 1
        await post.after(MINUTE)
        assert relay.mails[1]["Subject"] == "3 new messages (Thud)"

    async def test_quiet_hours_delay_mails(self, post: Post, relay: Handler) -> None:
        await post.place.enter("Anna", member=True)
        await post.place.type("Anna", "notify quiet 0 to 7")
        await post.place.leave("Anna")
        await plies(post)
        for _ in range(6):
            await post.after(3600)
        assert relay.mails == []
        await post.after(3600)
        assert len(relay.mails) == 1

    async def test_mail_warns_once_when_time_runs_short(self, post: Post, relay: Handler) -> None:
        await plies(post)
        await post.after(MINUTE)
        await post.after(2.5 * DAY)
        assert len(relay.mails) == 1
        await post.after(DAY / 4)
        [_, mail] = relay.mails
        assert mail["Subject"] == "6 hours left against Bert (Thud)"
        await post.after(DAY)
        assert len(relay.mails) == 2

    async def test_mail_reports_the_end_of_a_battle(self, post: Post, relay: Handler) -> None:
        await post.place.type("Bert", Resign("oak board"))
        await post.after(MINUTE)
        [mail] = relay.mails
        assert mail["Subject"] == "Battle over: Anna against Bert (Thud)"
        assert "\nhttps://example.org/game/1\n" in text_of(mail)


class TestNotSent:
    async def test_news_seen_in_the_meantime_is_not_mailed(
        self, post: Post, relay: Handler
    ) -> None:
        await plies(post)
        await post.place.enter("Anna", member=True)
        await post.place.leave("Anna")
        await post.after(MINUTE)
        assert relay.mails == []

    async def test_online_player_is_not_mailed_until_they_leave(
        self, post: Post, relay: Handler
    ) -> None:
        await post.place.enter("Anna", member=True)
        await plies(post)
        await post.after(MINUTE)
        await post.after(MINUTE)
        assert relay.mails == []
        await post.place.leave("Anna")  # a lost link: she may not have seen the news
        await post.after(MINUTE)
        assert len(relay.mails) == 1

    async def test_typed_line_marks_news_as_seen(self, post: Post, relay: Handler) -> None:
        await post.place.enter("Anna", member=True)
        await plies(post)
        await post.after(MINUTE)
        await post.place.type("Anna", "look")
        await post.place.leave("Anna")
        await post.after(MINUTE)
        assert relay.mails == []
        assert await post.place.service.store.read(storage.due, mails=True) == []

    async def test_news_no_longer_current_is_not_mailed(self, post: Post, relay: Handler) -> None:
        await plies(post)
        await post.place.type("Bert", "message anna Ho!")
        await forget(post.place.service.store, "Anna", [1])
        await post.place.type("Bert", Resign("oak board"))
        await post.after(MINUTE)
        [mail] = relay.mails
        assert mail["Subject"].startswith("Battle over")

    async def test_mails_over_the_hourly_limit_are_held_back(
        self, post: Post, relay: Handler, caplog: pytest.LogCaptureFixture
    ) -> None:
        post.notifier = post.new(POLICY._replace(per_hour=1))
        await post.place.type("Bert", "notify mail new@example.org")
        await plies(post)
        for _ in range(10):
            await post.after(5 * MINUTE)
        assert len(relay.mails) == 1
        assert [each.getMessage() for each in caplog.records] == [
            "reached the hourly limit, holding mails back"
        ]
        for _ in range(4):
            await post.after(5 * MINUTE)
        assert len(relay.mails) == 2

    async def test_codes_and_notifications_share_the_hourly_limit(
        self, post: Post, relay: Handler
    ) -> None:
        post.notifier = post.new(POLICY._replace(gap=0.0, per_hour=6))
        store = post.place.service.store
        for number in range(4):
            name = f"M{'x' * number}"
            await store.write(accounts.enrol, name, "hash")
            await store.write(storage.ask_code, name, f"victim@{number}.example")
        await plies(post)
        await post.after(MINUTE)
        subjects = [str(mail["Subject"]) for mail in relay.mails]
        assert subjects.count("Your code (Thud)") == 2
        assert subjects.count("Your turn against Bert (Thud)") == 1
        for _ in range(6):
            await post.place.type("Bert", "message anna Ho!")
            await post.after(MINUTE)
        assert len(relay.mails) == 6
        assert [str(mail["Subject"]) for mail in relay.mails].count("Your code (Thud)") == 2

    async def test_notifier_of_an_inactive_server_sends_nothing(
        self, post: Post, relay: Handler
    ) -> None:
        post.notifier._is_alive = lambda: False
        await plies(post)
        await post.after(MINUTE)
        assert relay.mails == []

    async def test_notifier_without_a_relay_drops_mails(self, post: Post, relay: Handler) -> None:
        hall, store = post.place.hall, post.place.service.store
        post.notifier = Notifier(hall, store, None, None, POLICY)
        await plies(post)
        await post.after(MINUTE)
        assert await store.read(storage.due, mails=True) == []
        assert relay.mails == []


class TestTroubles:
    async def test_mail_is_retried_with_backoff_and_abandoned_after_a_day(
        self, post: Post, relay: Handler, caplog: pytest.LogCaptureFixture
    ) -> None:
        relay.answer = "451 Come again"
        await plies(post)
        pauses, last = list[int](), 0.0
        await post.after(MINUTE)
        begun = post.clock.now
        while relay.tried:
            tried = relay.tried
            if post.clock.now > begun + 2 * DAY:
                break
            await post.after(MINUTE)
            if relay.tried > tried:
                pauses.append(round((post.clock.now - (last or begun)) / MINUTE))
                last = post.clock.now
        assert pauses[:9] == [1, 2, 4, 8, 16, 32, 64, 128, 240]
        assert last - begun >= DAY
        assert last - begun <= DAY + 14_400
        [line] = [each for each in caplog.records if each.levelno == logging.ERROR]
        assert line.getMessage() == "gave up on notifications"
        assert vars(line)["player"] == "Anna"
        assert "example.org" not in caplog.text

    async def test_unknown_recipient_gets_no_more_mails(
        self, post: Post, relay: Handler, caplog: pytest.LogCaptureFixture
    ) -> None:
        relay.recipient = "550 5.1.1 No such user"
        await plies(post)
        await post.after(MINUTE)
        [line] = caplog.records
        assert line.getMessage() == "could not notify a player: no such address: 550 5.1.1"
        assert "example.org" not in caplog.text
        assert post.place.hall.part(NotificationSettings).members == {"Bert"}
        await post.place.enter("Anna", member=True)
        assert "which no longer accepts email" in await post.place.type("Anna", "notify")

    @pytest.mark.parametrize("answer", ["550 5.1.8 Bad sender", "550 5.7.1 Policy", "554 5.5.0 No"])
    async def test_rejected_sender_keeps_the_address_and_logs_an_error(
        self, post: Post, relay: Handler, caplog: pytest.LogCaptureFixture, answer: str
    ) -> None:
        relay.recipient = answer
        await plies(post)
        await post.after(MINUTE)
        await post.after(MINUTE)
        [line] = [each for each in caplog.records if each.levelno == logging.ERROR]
        assert "mail.sender" in vars(line)["why"]
        assert answer[:9] in vars(line)["why"]
        relay.recipient = "250 OK"
        await post.after(2 * MINUTE)
        assert len(relay.mails) == 1

    @pytest.mark.parametrize("answer", ["450 Busy", "421 Going away", "552 Full", "550 5.7.1 No"])
    async def test_recipient_rejected_temporarily_gets_the_mail_later(
        self, post: Post, relay: Handler, answer: str
    ) -> None:
        relay.recipient = answer
        await plies(post)
        await post.after(MINUTE)
        relay.recipient = "250 OK"
        await post.after(MINUTE)
        assert len(relay.mails) == 1

    async def test_relay_hanging_up_before_delivery_is_retried(
        self, post: Post, relay: Handler
    ) -> None:
        relay.drops = "data"
        await plies(post)
        await post.after(MINUTE)
        assert (relay.tried, relay.mails) == (1, [])
        relay.drops = ""
        await post.after(MINUTE)
        assert (relay.tried, len(relay.mails)) == (2, 1)

    async def test_relay_hanging_up_after_delivery_is_not_retried(
        self, post: Post, relay: Handler
    ) -> None:
        relay.drops = "quit"
        await plies(post)
        await post.after(MINUTE)
        await post.after(DAY / 2)
        assert (relay.tried, len(relay.mails)) == (1, 1)

    async def test_slow_relay_times_out_and_is_retried(
        self, post: Post, relay: Handler, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        relay.hold = asyncio.Event()
        monkeypatch.setattr(smtp, "TIMEOUT", 0.05)
        post.notifier = post.new()
        await plies(post)
        await post.after(MINUTE)
        assert (relay.tried, relay.mails) == (1, [])
        relay.hold.set()
        monkeypatch.undo()
        post.notifier = post.new()
        await post.after(MINUTE)
        assert relay.tried == 2

    async def test_unreachable_relay_is_retried(self, post: Post, relay: Handler) -> None:
        post.notifier = post.new(port=1)
        await plies(post)
        await post.after(MINUTE)
        post.notifier = post.new()
        await post.after(MINUTE)
        assert len(relay.mails) == 1


def codes() -> Iterator[tuple[str, str]]:
    """Yield replies to RCPT, each with the party at fault: "address", "ours" or "unclear"."""
    ours = ["1.7", "1.8", "2.3", "3.4"]
    address = ["1.1", "1.2", "1.3", "1.4", "1.6", "1.10", "2.1"]
    for subject, detail in product(range(10), range(40)):
        code = f"{subject}.{detail}"
        fault = "ours" if code in ours or subject in {5, 6, 7} else "unclear"
        yield f"550 5.{code} No", "address" if code in address else fault
        yield f"450 4.{code} Later", "unclear"
        yield f"450 5.{code} Confused", "unclear"
    for nothing in ("550", "550 No such user", "552 Full", "550 5.1", "550 5.1.1.1", "550 5.1.11x"):
        yield nothing, "unclear"
    yield "550 5.1.1", "address"


@cases(("answer", "fault"), codes())
def test_reply_code_determines_the_fault(answer: str, fault: str) -> None:
    number, _, text = answer.partition(" ")
    error = smtp.rejection(int(number), text)
    if fault == "address":
        assert isinstance(error, NeverSentError)
    else:
        assert isinstance(error, NotSentError)
        assert error.is_ours is (fault == "ours")


@pytest.mark.parametrize("reply", ["550 5.1.1 No", "530 Log in first", "501 5.1.7 Bad"])
def test_rejection_of_another_command_keeps_the_address(reply: str) -> None:
    number, _, text = reply.partition(" ")
    error = smtp.rejection(int(number), text, of_recipient=False)
    assert isinstance(error, NotSentError)
    assert error.is_ours


@given(st.from_regex(r"https://[a-z0-9.-]{1,200}/mail/[A-Za-z0-9_-]{1,200}", fullmatch=True))
def test_header_with_a_link_is_never_encoded(end: str) -> None:
    settings = {"relay": "127.0.0.1", "tls": "none", "sender": "thud@example.org"}
    relay = Relay(MailSettings.model_validate(settings), Path(), "Thüd " * 20)
    message = relay.composed(Mail("Zug für Zug " * 20, "Text"), "anna@example.org", end, 1)
    sent = message_from_bytes(flatten_message(message))  # no policy: raw headers
    assert sent["List-Unsubscribe"] == f"<{end}>"
    assert sent["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert max(map(len, flatten_message(message).split(b"\r\n"))) <= 998


@pytest.mark.parametrize(
    "name",
    [
        "Thud",
        'Thud, "the" game',
        "Thüd, das Spiel",
        "Das große Spiel der Zwerge und Trolle, in Ankh-Morpork: hier",
        "é" * 40 + ", evil@evil.example",
        "名前, \U0001f600 " * 10,
        "=?utf-8?q?Thud?=",
    ],
)
def test_non_ascii_name_and_subject_survive_with_a_single_sender(name: str) -> None:
    settings = {"relay": "127.0.0.1", "tls": "none", "sender": "thud@example.org"}
    relay = Relay(MailSettings.model_validate(settings), Path(), name)
    mail = Mail(f"\U0001f600 名前 ({name})", "Text")
    flat = flatten_message(relay.composed(mail, "anna@example.org", "https://example.org/x", 1))
    [sender] = message_from_bytes(flat, policy=default)["From"].addresses
    assert sender.addr_spec == "thud@example.org"
    sent = message_from_bytes(flat)
    assert _decoded(sent["Subject"]) == mail.subject
    assert _decoded(sent["From"].rpartition(" <")[0]) in {name, name.replace('"', '\\"').join('""')}


def _decoded(header: str) -> str:
    return str(make_header(decode_header("".join(header.splitlines()))))


class TestReplies:
    """Relays with unusual replies."""

    async def send(
        self, replies: dict[str, bytes], text: str = "Text\n"
    ) -> tuple[str, list[bytes]]:
        """Send a mail; return the outcome and the lines that the relay received."""
        async with replying(replies) as (port, came):
            known = {"relay": "127.0.0.1", "tls": "none", "sender": "thud@example.org"}
            relay = Relay(MailSettings.model_validate({**known, "port": port}), Path(), "Thud")
            try:
                await relay.send("anna@example.org", Mail("Turn", text), "https://example.org/x", 1)
            except (NotSentError, NeverSentError) as error:
                return f"{type(error).__name__}: {error}", came
            return "sent", came

    @pytest.mark.parametrize(
        ("reply", "outcome"),
        [
            (b"250-Fine\r\n250-so far\r\n250 OK\r\n", "sent"),
            (b"250 OK\n", "sent"),
            (b"251 User not local; will forward\r\n", "sent"),
            (
                b"550-5.1.1 The account\r\n550-5.1.1 does not\r\n550 5.1.1 exist\r\n",
                "NeverSentError: no such address: 550 5.1.1",
            ),
            (b"550 5.1.1 \xe4\xff\r\n", "NeverSentError: no such address: 550 5.1.1"),
            (b"550\r\n", "NotSentError: the relay refused the mail: 550"),
            (b"421 4.3.2 Closing\r\n", "NotSentError: the relay refused the mail: 421"),
            (b"250-" + b"x" * 100_000 + b"\r\n", "NotSentError: the relay refused"),
            (b"250-x\r\n" * 100_000, "NotSentError: the relay refused the mail"),
        ],
        ids=lambda value: repr(value[:20]),
    )
    async def test_reply_of_any_length_is_read_as_one(self, reply: bytes, outcome: str) -> None:
        found, _ = await self.send({"RCPT": reply})
        assert found.startswith(outcome)

    async def test_lines_starting_with_a_dot_are_stuffed(self) -> None:
        text = ".\n..\n.QUIT\nFrom here\n\n" + "long " * 400 + "\n.\nRCPT TO:<b@example.org>\n"
        found, came = await self.send({}, text)
        assert found == "sent"
        sent = b"".join(came).partition(b"\nDATA\r\n")[2].removesuffix(b".\r\n")
        mail = message_from_bytes(sent.replace(b"\r\n.", b"\r\n"), policy=default)
        assert mail.get_content().replace("\r\n", "\n") == text

    async def test_replies_injected_before_tls_are_discarded(self, tmp_path: Path) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
        AUTHORITY.cert_pem.write_to_path(tmp_path / "ca.pem")
        forged = b"220 Go\r\n250-forged\r\n250 AUTH PLAIN\r\n550 5.1.1 forged\r\n"
        replies = {"EHLO": b"250-relay\r\n250 STARTTLS\r\n", "STARTTLS": forged}
        async with replying(replies, context) as (port, came):
            known = {"relay": "127.0.0.1", "port": port, "sender": "thud@example.org"}
            settings = MailSettings.model_validate({**known, "certificates": "ca.pem"})
            relay = Relay(settings, tmp_path, "Thud")
            await relay.send("anna@example.org", Mail("Turn", "Text\n"), "https://example.org/x", 1)
        verbs = [each.split()[0] for each in came[:5]]
        assert verbs == [b"EHLO", b"STARTTLS", b"EHLO", b"MAIL", b"RCPT"]


class TestOnce:
    async def test_mail_whose_delivery_cannot_be_recorded_is_sent_once(
        self, post: Post, relay: Handler, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise NotWrittenError("The disk is full.")

        store = post.place.service.store
        await plies(post)
        with monkeypatch.context() as patch:
            patch.setattr(storage, "delete_sent", fail)
            for _ in range(3):
                with pytest.raises(NotWrittenError):
                    await post.after(MINUTE)
            assert len(relay.mails) == 1
        await post.after(MINUTE)
        assert len(relay.mails) == 1
        assert await store.read(storage.due, mails=True) == []

    async def test_mail_resent_after_a_kill_keeps_its_message_id(
        self, post: Post, relay: Handler, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def killed(*_: object, **__: object) -> None:
            raise asyncio.CancelledError

        await plies(post)
        with monkeypatch.context() as patch:
            patch.setattr(storage, "delete_sent", killed)
            with pytest.raises(asyncio.CancelledError):
                await post.after(MINUTE)
        assert len(relay.mails) == 1
        post.notifier = post.new()  # another process, without the state of the first
        await post.after(MINUTE)
        first, second = relay.mails
        assert first["Message-ID"] == second["Message-ID"]

    async def test_lock_change_hands_sending_over_to_the_new_holder(
        self, post: Post, relay: Handler
    ) -> None:
        relay.hold = asyncio.Event()
        await plies(post)
        post.clock.now += MINUTE
        locks = [asyncio.Queue[Holder](), asyncio.Queue[Holder]()]
        servers = [post.notifier, post.new()]
        tasks = [
            asyncio.create_task(each.follow(lock))
            for each, lock in zip(servers, locks, strict=True)
        ]
        locks[0].put_nowait(Holder.OURS)
        locks[1].put_nowait(Holder.OTHERS)
        async with asyncio.timeout(PATIENCE):
            await relay.came.wait()
        relay.came.clear()
        locks[0].put_nowait(Holder.OTHERS)  # while a mail is being sent
        while not locks[0].empty():  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0)
        relay.hold.set()
        relay.hold = None
        locks[1].put_nowait(Holder.OURS)
        store = post.place.service.store
        async with asyncio.timeout(PATIENCE):
            while await store.read(storage.due, mails=True):  # noqa: ASYNC110
                await asyncio.sleep(0)
        assert 1 <= len(relay.mails) <= 2
        assert len({mail["Message-ID"] for mail in relay.mails}) == 1
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    async def test_notifier_ends_even_if_the_relay_swallows_cancellation(
        self, post: Post, relay: Handler
    ) -> None:
        begun, sent = asyncio.Event(), list[str]()

        class Hiding:
            async def send(self, address: str, mail: Mail, end: str, number: int) -> None:
                sent.append(address)
                begun.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()

        hall, store = post.place.hall, post.place.service.store
        notifier = Notifier(hall, store, Hiding(), None, POLICY)
        await plies(post)
        await post.place.type("Bert", "notify mail new@example.org")
        post.clock.now += MINUTE
        lock = asyncio.Queue[Holder]()
        lock.put_nowait(Holder.OURS)
        task = asyncio.create_task(notifier.follow(lock))
        async with asyncio.timeout(PATIENCE):
            await begun.wait()
            task.cancel()
            await asyncio.wait([task])
        assert len(sent) == 1

    async def test_store_failure_is_logged_and_retried(
        self,
        post: Post,
        relay: Handler,
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        failing = [NotWrittenError("No."), ValueError("A bug.")]
        due = storage.due

        def fail(database: Database, *, mails: bool) -> object:
            if failing and mails:
                raise failing.pop(0)
            return due(database, mails=mails)

        monkeypatch.setattr(storage, "due", fail)
        await plies(post)
        post.clock.now += MINUTE
        lock = asyncio.Queue[Holder]()
        lock.put_nowait(Holder.OURS)
        task = asyncio.create_task(post.notifier.follow(lock))
        async with asyncio.timeout(PATIENCE):
            while not relay.mails:  # noqa: ASYNC110
                await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        told = [each.getMessage() for each in caplog.records]
        assert told == [
            "could not read or update the queued notifications: No.",
            "could not send notifications",
        ]


class TestRelay:
    async def test_relay_uses_starttls_and_a_password(self, post: Post, tmp_path: Path) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
        AUTHORITY.cert_pem.write_to_path(tmp_path / "ca.pem")
        (tmp_path / "password").write_text("swordfish\n", "utf-8-sig")
        relay = Handler()
        relay.login = "thud", "swordfish"
        async with AsyncExitStack() as stack:
            port = await stack.enter_async_context(relaying(relay, context))
            known = {"port": port, "tls": "starttls", "user": "thud", "password_file": "password"}
            await plies(post)
            post.notifier = post.new(**known)  # type: ignore[arg-type]
            await post.after(MINUTE)
            assert relay.mails == []  # the system doesn't trust the certificate
            post.notifier = post.new(**known, certificates="ca.pem")  # type: ignore[arg-type]
            await post.after(MINUTE)
            assert relay.secure == [True]
            (tmp_path / "password").write_text("wrong")
            post.notifier = post.new(**known, certificates="ca.pem")  # type: ignore[arg-type]
            await post.place.type("Bert", "message anna Ho!")
            await post.after(DAY / 24)
            assert len(relay.mails) == 1

    async def test_relay_without_the_required_tls_gets_no_mail(
        self, post: Post, relay: Handler
    ) -> None:
        post.notifier = post.new(tls="starttls")
        await plies(post)
        await post.after(MINUTE)
        assert relay.tried == 0

    @pytest.mark.parametrize(
        ("changed", "problem"),
        [
            (
                {"user": "thud", "password_file": "none"},
                "mail.password_file: cannot read .*: no such file",
            ),
            ({"user": "thud", "password_file": "empty"}, "mail.password_file: expected a password"),
            ({"certificates": "none"}, "mail.certificates: could not load .*none"),
        ],
    )
    def test_unusable_settings_file_is_refused(
        self, tmp_path: Path, changed: dict[str, str], problem: str
    ) -> None:
        (tmp_path / "empty").write_text("")
        known = {"relay": "localhost", "sender": "thud@example.org"}
        with pytest.raises(StartError, match=problem):
            Relay(MailSettings.model_validate(known | changed), tmp_path, "Thud")

    @given(st.text(min_size=1, max_size=60), st.sampled_from(["subject", "name", "address"]))
    def test_headers_cannot_be_injected(self, text: str, where: str) -> None:
        settings = MailSettings(relay="localhost", sender="thud@example.org", tls="none")
        name = clean(text) if where == "name" else "Thud"  # the settings are cleaned the same way
        relay = Relay(settings, Path(), name)
        mail = Mail(f"a{text}b" if where == "subject" else f"Your turn ({name})", "Text.")
        to = f"a{text}b@example.org" if where == "address" else "anna@example.org"
        try:
            made = relay.composed(mail, to, "https://example.org/mail/x", 1)
        except ValueError:
            assert where == "address" or not text.isprintable()
            return
        head = made.as_bytes().partition(b"\r\n\r\n")[0].decode("ascii")
        lines = [line for line in head.split("\r\n") if not line.startswith((" ", "\t"))]
        assert [line.partition(":")[0] for line in lines] == [
            "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "List-Unsubscribe",
            "List-Unsubscribe-Post", "Content-Type", "Content-Transfer-Encoding", "MIME-Version",
        ]  # fmt: skip

    @given(st.text(max_size=20), st.text(min_size=1, max_size=3), st.text(max_size=20))
    def test_accepted_address_contains_no_delimiters(
        self, before: str, sign: str, after: str
    ) -> None:
        for text in (f"{before}{sign}{after}@example.org", f"a@{before}{sign}{after}.org"):
            if is_address(text):
                assert text.isascii()
                assert text.isprintable()
                assert not set(text) & set(' ,;:<>()[]"\\')
                assert text.count("@") == 1


async def test_tournament_round_is_mailed_to_its_players(relay: Handler, tmp_path: Path) -> None:
    cup = Cup(SlowStore.make())
    cup.hall.part(NotificationSettings).ways = WAYS
    for name in ("Anna", "Bert", "Carl"):
        await cup.store.write(accounts.enrol, name, "hash")
    await follow_members(cup.service)
    await cup.open()
    await cup.enter("Anna", "Bert", "Carl", member=True)
    await confirmed(cup, "Anna", "Bert", "Carl")
    await cup.announce(f"round robin 3 days classic {SOON}", "Anna", "Bert", "Carl")
    await cup.begin_round()
    [match] = cup.one.open.values()
    table = cup.hall.tables.with_key(match.key)
    assert table
    told = await waiting(cup)
    assert {name for name, kinds in told.items() if "round" in kinds} == {*match.players}
    for name in match.players:
        await cup.leave(name)
    cup.wait(MINUTE)
    async with relaying(relay) as port:
        known = {"relay": "127.0.0.1", "port": port, "tls": "none", "sender": "thud@example.org"}
        sends = Relay(MailSettings.model_validate(known), tmp_path, "Thud")
        await Notifier(cup.hall, cup.store, sends, None, POLICY).look(mails=True)
    mails = {mail["To"].partition("@")[0]: mail for mail in relay.mails}
    assert mails.keys() == {*match.players}
    assert mails[match.first]["Subject"] == "2 notifications (Thud)"
    assert mails[match.second]["Subject"] == "Round 1 of tournament 1 (Thud)"
    begun = f"you play {match.first} at the {table.name}."
    assert begun in " ".join(text_of(mails[match.second]).split())
