"""Events and other values of ours as what JSON holds, and back. Pure."""

from thudmud.codec.events import SCHEMA, Misread, TooNew, from_line, to_line
from thudmud.codec.forms import Form, FormError, form_of

__all__ = [
    "SCHEMA",
    "Form",
    "FormError",
    "Misread",
    "TooNew",
    "form_of",
    "from_line",
    "to_line",
]
