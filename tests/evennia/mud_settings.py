"""Settings of a MUD without a game directory, in which Evennia's own test classes run."""

from evennia import settings_default
from evennia.settings_default import *  # noqa: F403 (as every MUD's settings begin)

SECRET_KEY = "for tests alone"  # noqa: S105 (it keeps nothing secret)
ROOT_URLCONF = "evennia.web.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Tables are made from the models: the migrations of Evennia are Evennia's to test.
APPS = [app.rpartition(".")[2] for app in settings_default.INSTALLED_APPS]
MIGRATION_MODULES = dict.fromkeys([*APPS, "admin"])
# There is no game directory to look for them in, as Evennia otherwise does for each account.
CMDSET_ACCOUNT = settings_default.CMDSET_FALLBACKS[settings_default.CMDSET_ACCOUNT]
CMDSET_CHARACTER = settings_default.CMDSET_FALLBACKS[settings_default.CMDSET_CHARACTER]
