"""Removal of the workspace path from messages."""

from __future__ import annotations

import os
import re

# A match must not start or end in the middle of a longer file name. A full stop or a hyphen is part
# of a name only if more of the name follows.
_BEFORE = r"(?:file://|(?<![\w/.-]))"
_AFTER = r"(?![.-]*\w)"
_END = re.compile(r"""[\s'"`:;,)\]}>]""")


def relative_to(folder: str, text: str) -> str:
    """Replace absolute paths below a folder by relative ones, and the folder itself by ".".

    Tools pass on errors of the operating system, which contain absolute paths. The model cannot use
    the part up to the workspace, and it would show readers of the conversation how the machine is
    organized. The Go SDK has the same rule, and both pass the same tests.
    """
    if not folder or os.path.dirname(folder) == folder:
        return text
    text = _without(os.path.normpath(folder), text)
    resolved = os.path.realpath(folder)
    return text if os.path.dirname(resolved) == resolved else _without(resolved, text)


def _without(folder: str, text: str) -> str:
    """Remove a folder, given without a trailing slash, from the start of every path in a text."""

    def relative(found: re.Match[str]) -> str:
        rest = text[found.end() :]
        return "." if not rest or _END.match(rest) else ""

    return re.sub(_BEFORE + re.escape(folder) + _AFTER + "/*", relative, text)
