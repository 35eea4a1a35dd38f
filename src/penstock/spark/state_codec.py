"""Reads and writes the states of one operator; one of an earlier form becomes one of its own."""

from __future__ import annotations

import hashlib
import json
from io import FileIO

from penstock.kernel.codec import Written, encode, encode_into, read, require_own
from penstock.kernel.port import State
from penstock.kernel.state_change import migrated
from penstock.model.physical import Keyed
from penstock.plan.fingerprint import state_fingerprint
from penstock.plan.form_document import form_document, read_form
from penstock.plan.state_change import check_form, continued
from penstock.plan.state_form import state_form


class StateCodec:
    """The bytes of an operator's states. Each says in which form it was written."""

    def __init__(self, keyed: Keyed) -> None:
        self._keyed = keyed
        self._fingerprint = state_fingerprint(keyed)
        self._form = state_form(keyed)
        self._document = form_document(self._form)
        text = json.dumps(self._document, sort_keys=True).encode()
        self.mark = hashlib.blake2b(text, digest_size=8).hexdigest()
        """Tells the operator's form from others, in few letters."""

    def encode(self, state: State) -> bytes:
        """Write a state in the form that the operator has."""
        return encode(state, self._fingerprint, self._document)

    def encode_into(self, file: FileIO, state: State) -> tuple[int, int]:
        """Write a state into an empty file; give two checksums of all that it holds."""
        return encode_into(file, self.written(state))

    def decode(self, blob: bytes | memoryview) -> tuple[State, bool]:
        """Read a state, and say whether it had another form."""
        return self.current(read(blob))

    def written(self, state: State) -> Written:
        """Give a state as it is when it is read back."""
        return Written(state, self._fingerprint, self._document)

    def current(self, found: Written) -> tuple[State, bool]:
        """Give a stored state in the operator's form, and say whether it had another."""
        if found.form is None:
            require_own(found, self._fingerprint)
            return found.state, False
        if found.form == self._document:
            return found.state, False
        before = read_form(found.form)
        if before == self._form:
            return found.state, False
        check_form(self._keyed, before, self._form)
        goes_on = continued(before.measures, self._form.measures)
        return migrated(found.state, before, self._form, self._keyed.relation, goes_on), True
