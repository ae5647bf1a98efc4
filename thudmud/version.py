"""The version of thudmud, defined only here. Imports nothing."""

VERSION = "0.1.0"
