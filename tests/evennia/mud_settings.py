"""Settings of a MUD without a game directory, for tests based on Evennia's test classes."""

from evennia import settings_default
from evennia.settings_default import *  # noqa: F403 (standard first line of Evennia settings)

SECRET_KEY = "for tests alone"  # noqa: S105 (not a real secret)
ROOT_URLCONF = "evennia.web.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Create tables from the models: testing the migrations is up to Evennia.
APPS = [app.rpartition(".")[2] for app in settings_default.INSTALLED_APPS]
MIGRATION_MODULES = dict.fromkeys([*APPS, "admin"])
# No game directory to search, which Evennia would otherwise do for each account.
CMDSET_ACCOUNT = settings_default.CMDSET_FALLBACKS[settings_default.CMDSET_ACCOUNT]
CMDSET_CHARACTER = settings_default.CMDSET_FALLBACKS[settings_default.CMDSET_CHARACTER]
