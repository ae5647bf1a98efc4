"""Journals that earlier versions have left are opened, read, and gone on with.

`schema_N.journal` is a file that was written by the version whose schema was N: it holds the events
of `schema_N.events`, the even ones at one board and the odd ones at another. It stays as it is for
ever. Make that of a new schema by running this module as a script: ``python -m
tests.journal.test_old_journals``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.codec.test_events import samples
from tests.journal.deeds import OAK, PATIENCE, PINE, joined
from thudmud.codec import SCHEMA, decode
from thudmud.journal.store import Append, Store
from thudmud.play.events import LANDMARKS

HERE = Path(__file__).parent
SCHEMAS = range(1, SCHEMA + 1)


@pytest.fixture(params=SCHEMAS)
def schema(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def kept(path: Path, schema: int) -> Path:
    """Return a copy of the journal that was left by a schema."""
    shutil.copyfile(HERE / f"schema_{schema}.journal", path)
    return path


def test_all_of_it_is_read_as_it_was_meant(kept: Path, schema: int) -> None:
    store = Store(kept, PATIENCE)
    entries = store.after(0)
    assert [repr(entry.event) for entry in entries] == [value for _, value in samples(schema)]
    assert [entry.stream for entry in entries[:4]] == [OAK, PINE, OAK, PINE]
    assert [entry for name in (OAK, PINE) for entry in store.read(name, 1, None)] == sorted(
        entries, key=lambda entry: entry.stream
    )
    store.close()


def test_its_landmarks_are_those_of_today(kept: Path) -> None:
    store = Store(kept, PATIENCE)
    landmarks = [entry for entry in store.after(0) if isinstance(entry.event, LANDMARKS)]
    assert store.landmarks() == landmarks, "what `landmark` says in old rows has to be brought up"
    store.close()


def test_it_is_gone_on_with(kept: Path) -> None:
    store = Store(kept, PATIENCE)
    store.append([Append(OAK, store.list()[OAK], [joined(1)])])
    before = store.after(0)
    store.close()
    again = Store(kept, PATIENCE)
    assert again.after(0) == before
    assert before[-1].event == joined(1)
    again.close()


def keep(path: Path) -> None:
    """Make the journal of the schema of today."""
    store = Store(path, PATIENCE)
    for number, (text, _) in enumerate(samples(SCHEMA)):
        store.append([Append((OAK, PINE)[number % 2], number // 2, [decode(SCHEMA, text)])])
    store.close()


if __name__ == "__main__":
    keep(HERE / f"schema_{SCHEMA}.journal")
