"""Paths in messages: relative to the workspace."""

from __future__ import annotations

import os
import re

# A path does not begin after a character of a name, and does not end before one. A full stop or a hyphen belongs to a
# name if the name goes on after it.
_BEFORE = r"(?:file://|(?<![\w/.-]))"
_AFTER = r"(?![.-]*\w)"
_END = re.compile(r"""[\s'"`:;,)\]}>]""")


def relative_to(folder: str, text: str) -> str:
    """Return a text in which absolute paths of files in a folder are relative to it, and the folder itself is ".".

    Tools pass on errors of the operating system, which name absolute paths. A model has no use for the part that leads
    to the workspace, and a reader of the conversation would learn from it how the machine is laid out. The rule is that
    of Go's SDK; both are tested with the same texts.
    """
    if not folder or os.path.dirname(folder) == folder:
        return text
    text = _without(os.path.normpath(folder), text)
    resolved = os.path.realpath(folder)
    return text if os.path.dirname(resolved) == resolved else _without(resolved, text)


def _without(folder: str, text: str) -> str:
    """Take a folder, which ends in no slash, out of a text wherever it stands as the beginning of a path."""

    def relative(found: re.Match[str]) -> str:
        rest = text[found.end() :]
        return "." if not rest or _END.match(rest) else ""

    return re.sub(_BEFORE + re.escape(folder) + _AFTER + "/*", relative, text)
