"""The tools of the fixture. The Go and the Node plugin beside it have the same."""

import asyncio
import itertools
import json

from contract import Failure, result_pb2, serve
from toolhost.plugin.v1.plugin_pb2 import DescribeResponse
from toolhost.tool.v1.spec_pb2 import ToolSpec

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)
UNIT = "0123456789 äöü € 😀 "  # of large texts; it has letters of one to four bytes


def text(words, **fields):
    return result_pb2.Result(content=[result_pb2.Content(text=words)], **fields)


def value(content, **fields):
    encoded = content if isinstance(content, bytes) else json.dumps(content).encode()
    return result_pb2.Result(content=[result_pb2.Content(json=encoded)], **fields)


async def echo(call):
    return value(await call.arguments())


async def describe_call(call):
    await call.arguments()
    context = call.context
    return value(
        {
            "call_id": call.id,
            "attempt": call.attempt,
            "session": context.session,
            "workspace": context.workspace,
            "values": {key: json.loads(v) for key, v in context.values.items()},
            "secrets": dict(context.secrets),
            "traceparent": context.traceparent,
        }
    )


async def large(call):
    blocks = []
    for block in json.loads(await call.arguments())["blocks"]:
        kind, units = block["kind"], block["units"]
        if kind == "text":
            blocks.append(result_pb2.Content(text=UNIT * units))
        elif kind == "json":
            blocks.append(result_pb2.Content(json=json.dumps(UNIT * units).encode()))
        else:
            data = result_pb2.Blob(media_type="application/octet-stream", name="large.bin", data=bytes(range(256)) * units)
            blocks.append(result_pb2.Content(file=data))
    return result_pb2.Result(content=blocks)


async def fail(call):
    return text(json.loads(await call.arguments())["message"], is_error=True)


async def break_down(call):
    arguments = json.loads(await call.arguments())
    if arguments["kind"] == "BUG":
        raise RuntimeError(arguments["message"])
    raise Failure(arguments["kind"], arguments["message"], arguments.get("retry_after", 0))


async def effects(call):
    await call.arguments()
    return result_pb2.Result(
        effects=[
            result_pb2.Effect(key="plan", operation=result_pb2.EFFECT_OPERATION_REPLACE, value=b'"walk"'),
            result_pb2.Effect(key="seen", operation=result_pb2.EFFECT_OPERATION_APPEND, value=b'{"n":7}'),
            result_pb2.Effect(key="tree", operation=result_pb2.EFFECT_OPERATION_MERGE, value=b'{"leaf":null}'),
        ],
        metadata={"source": b'"fixture"'},
        cost=0.25,
        usage=result_pb2.Usage(input_tokens=11, output_tokens=5),
    )


async def image(call):
    await call.arguments()
    png = result_pb2.Blob(media_type="image/png", name="pixel.png", data=PIXEL)
    return result_pb2.Result(content=[result_pb2.Content(image=png)])


async def steps(call):
    await call.arguments()
    await call.status(state="WAIT", message="about to begin", parameters=b'{"a":{"x":1},"n":1}')
    await call.status(state="DOING", message="at work", parameters=b'{"a":{"y":2}}')
    await call.progress(done=1, total=3, message="a third")
    await call.log("WARN", "halfway", left=b"2")
    await call.progress(done=3, total=3)
    await call.status(state="SUCCESS", message="done", parameters=b'{"n":2}', result=b'{"rows":3}')
    return text("stepped")


opened = itertools.count(1)


def cut(prefix):
    """Returns the member "text" of an object whose JSON ends anywhere, or None."""
    known = prefix.decode(errors="ignore")
    for end in ("", "}", '"}'):
        try:
            return json.loads(known + end).get("text")
        except ValueError:
            pass
    return None


async def draft(call):
    number, previews = next(opened), []
    async for prefix in call.prefixes():
        seen = cut(prefix)
        if seen and seen not in previews:
            previews.append(seen)
            await call.status(state="WAIT", parameters=json.dumps({"text": seen, "object": number}).encode())
    final = json.loads(await call.arguments())["text"]
    await call.status(state="DOING")
    await call.status(state="SUCCESS")
    return value({"text": final, "previews": previews, "object": number})


async def wait(call):
    await call.arguments()
    await call.status(state="DOING", message="waiting")
    await asyncio.Event().wait()


meetings = {}


async def meet(call):
    arguments = json.loads(await call.arguments())
    came, all_there = meetings.setdefault(arguments["room"], (itertools.count(1), asyncio.Event()))
    if next(came) == arguments["count"]:
        all_there.set()
    await all_there.wait()
    return text(f"met {arguments['count']}")


async def chatter(call):
    """Says more than any credit allows at once, and then how much it was."""
    count = json.loads(await call.arguments())["count"]
    for n in range(count):
        await call.log("DEBUG", f"line {n} " + "x" * 1000)
    return text(f"said {count}")


TOOLS = {
    "echo": echo,
    "describe_call": describe_call,
    "large": large,
    "fail": fail,
    "break_down": break_down,
    "effects": effects,
    "image": image,
    "steps": steps,
    "draft": draft,
    "wait": wait,
    "meet": meet,
    "chatter": chatter,
}

ANYTHING = b'{"type":"object"}'


def spec(name):
    return ToolSpec(
        name=name,
        description=f"Does what the test of {name} needs.",
        input_schema=ANYTHING,
        read_only=True,
        partial_arguments=name == "draft",
        context_keys=["colour"] if name == "describe_call" else [],
        effect_keys=["plan", "seen", "tree"] if name == "effects" else [],
    )


if __name__ == "__main__":
    serve(
        DescribeResponse(
            name="bare", version="1.2.3", description="A fixture.", default_tags=["fixture"], tools=[spec(n) for n in TOOLS]
        ),
        TOOLS,
    )
