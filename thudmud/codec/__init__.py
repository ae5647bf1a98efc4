"""Events and other values of ours as what JSON holds, and back. Pure."""

from thudmud.codec.events import SCHEMA, Misread, TooNew, decode, encode
from thudmud.codec.forms import Form, FormError, form_of

__all__ = [
    "SCHEMA",
    "Form",
    "FormError",
    "Misread",
    "TooNew",
    "decode",
    "encode",
    "form_of",
]
