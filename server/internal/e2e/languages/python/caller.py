"""The Python caller of server/internal/e2e/languages: it makes the calls of a table and prints their events."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from toolhost.client import Artifact, Client, Event, Json, LogRecord, Outcome, Started, Status, Text

LEVELS = {10: "debug", 20: "info", 30: "warn", 40: "error"}
LONG = 500


def digest(data: bytes) -> str:
    return f"{len(data)} bytes of sha256 {hashlib.sha256(data).hexdigest()}"


def shown(text: str) -> str:
    """Return a text on one line, or only its digest if it is long."""
    encoded = text.encode()
    if len(encoded) > LONG:
        return digest(encoded)
    return "[" + text.replace("\\", "\\\\").replace("\n", "\\n") + "]"


def number(n: float) -> str:
    return str(int(n)) if n == int(n) else repr(n)


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def whole(toolhost: Client, artifact: Artifact, session: str) -> bytes:
    data = b""
    while len(data) < artifact.size:
        piece = toolhost.read_artifact(artifact.handle, session=session, offset=len(data), limit=1 << 20).data
        if not piece:
            break
        data += piece
    return data


def content_line(toolhost: Client, block: Any, session: str) -> str:
    match block:
        case Text():
            return f"text {shown(block.text)}"
        case Json():
            return f"json {shown(block.encoded.decode())}"
        case Artifact():
            data = digest(whole(toolhost, block, session))
            return (
                f"artifact {block.media_type} {block.name or '-'}, {block.size} bytes, "
                f"head {shown(block.head)}, tail {shown(block.tail)}, {data}"
            )
        case _:
            kind = type(block).__name__.lower()
            return f"{kind} {block.media_type} {block.name or '-'} {digest(block.data)}"


def outcome_lines(toolhost: Client, outcome: Outcome, session: str) -> list[str]:
    lines = [f"ended at {outcome.plugin or '-'}, replayed {str(outcome.replayed).lower()}"]
    if (e := outcome.error) is not None:
        after = round((e.retry_after or 0) * 1000)
        return [*lines, f"error {e.kind.value}: {shown(e.message)}, retry after {after} ms, rule {e.rule or '-'}"]
    r, u = outcome.result, outcome.result.usage
    tokens = f"{u.input_tokens} {u.output_tokens} {u.cache_read_tokens} {u.cache_write_tokens}"
    lines.append(f"result, is_error {str(r.is_error).lower()}, cost {number(r.cost or 0)}, tokens {tokens}")
    lines += [content_line(toolhost, block, session) for block in r.content]
    lines += [f"effect {e.key} {e.operation.value} {canonical(e.value)}" for e in r.effects]
    if r.metadata:
        lines.append(f"metadata {canonical(r.metadata)}")
    return lines


def lines_of(toolhost: Client, event: Event, session: str) -> list[str]:
    match event.payload:
        case Started() as s:
            return [f"started, attempt {s.attempt}, at {s.plugin}"]
        case Status() as s:
            state = s.state.value if s.state else "-"
            parameters = "-" if s.parameters is None else canonical(s.parameters)
            p = s.progress
            progress = "-" if p is None else f"{number(p.done)}/{number(p.total or 0)} {shown(p.message)}"
            result = "-" if s.result is None else canonical(s.result)
            return [
                f"status {state}: message {shown(s.message or '')}, parameters {parameters}, progress {progress}, result {result}"
            ]
        case LogRecord() as r:
            return [f"log {LEVELS[r.level]}: {shown(r.message)} {canonical(r.attributes)}"]
        case Outcome() as o:
            return outcome_lines(toolhost, o, session)


def perform(toolhost: Client, case: dict[str, Any], session: str) -> None:
    options: dict[str, Any] = {"session": session, "max_shown_bytes": case["max_shown_bytes"]}
    if "call_id" in case:
        options["call_id"] = case["call_id"]
    if "timeout_ms" in case:
        options["timeout"] = case["timeout_ms"] / 1000
    if "context" in case:
        options["context"] = case["context"]
    pieces = case.get("pieces", [])
    with toolhost.open(case["tool"], case.get("arguments", ""), complete=not pieces, **options) as execution:
        events = iter(execution)
        for number_, piece in enumerate(pieces, 1):
            execution.send(base64.b64decode(piece["bytes"]), complete=number_ == len(pieces))
            awaited = piece.get("await", "")
            while awaited:
                event = next(events)
                tell(toolhost, event, session)
                if isinstance(event.payload, Status) and (event.payload.parameters or {}).get("text") == awaited:
                    break
        for event in events:
            tell(toolhost, event, session)
            if isinstance(event.payload, Status) and "cancel" in case:
                execution.cancel(case["cancel"])


def tell(toolhost: Client, event: Event, session: str) -> None:
    for line in lines_of(toolhost, event, session):
        print(" ", line)


def main() -> None:
    address, cases, session = sys.argv[1:]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    with Client(address) as toolhost:
        for case in json.loads(Path(cases).read_text(encoding="utf-8")):
            print(case["name"])
            perform(toolhost, case, session)


if __name__ == "__main__":
    main()
