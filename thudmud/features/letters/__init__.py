"""Letters, which players call messages: written to members, whether here or not."""

from thudmud.features.letters import messages  # noqa: F401  (registers)
from thudmud.features.letters.commands import ForgetLetters, Letters, SendLetter
from thudmud.features.letters.model import LetterLimits
from thudmud.features.letters.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature(
    "letters",
    (SendLetter, Letters, ForgetLetters),
    setup,
    configure=lambda hall, known: hall.set_limits(
        LetterLimits(known.players.messages, known.players.messages_from_one)
    ),
)
