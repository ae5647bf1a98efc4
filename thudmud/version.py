"""Which version of thudmud this is: the one place that says so. Imports nothing."""

VERSION = "0.1.0"
