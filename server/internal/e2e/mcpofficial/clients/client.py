"""A client of MCP with the official Python SDK.

It does the steps that clients_test.go describes, and prints what it sees as one JSON object:
client.py VERSION http URL, or client.py VERSION stdio COMMAND ARGUMENTS….
"""

import asyncio
import json
import os
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters


async def main(version, transport, target, *args):
    seen = {"progress": []}
    approve = True

    async def elicit(_context, params):
        seen["question"] = params.message
        if not approve:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"approve": True})

    async def progressed(progress, _total, _message):
        seen["progress"].append(progress)

    server = target
    if transport == "stdio":
        server = StdioServerParameters(command=target, args=list(args), env=dict(os.environ))
    mode = version if version == "2026-07-28" else "legacy"
    async with Client(server, mode=mode, elicitation_callback=elicit) as client:
        seen["tools"] = [t.name for t in (await client.list_tools()).tools]
        result = await client.call_tool("sum", {"a": 40, "b": 2})
        seen["sum"] = result.structured_content["sum"]
        await client.call_tool("steps", progress_callback=progressed)

        async def canceled():
            return (await client.call_tool("canceled")).structured_content["count"]

        before = await canceled()
        started = asyncio.Event()

        async def begun(*_):
            started.set()

        waiting = asyncio.create_task(client.call_tool("wait", progress_callback=begun))
        await started.wait()
        waiting.cancel()
        try:
            await waiting
            seen["canceledCallFails"] = False
        except asyncio.CancelledError:
            seen["canceledCallFails"] = True
        while await canceled() == before:
            pass
        seen["canceled"] = True

        result = await client.call_tool("large")
        uri = next(c.uri for c in result.content if c.type == "resource_link")
        seen["pages"] = seen["bytes"] = 0
        while uri:
            page = (await client.read_resource(uri)).contents[0]
            seen["pages"] += 1
            seen["bytes"] += len(page.text)
            uri = page.meta.get("toolhost/next")

        seen["approved"] = (await client.call_tool("guarded", {"what": "yes"})).content[0].text
        approve = False
        seen["declined"] = (await client.call_tool("guarded", {"what": "no"})).is_error

        meta = {"toolhost/callId": f"order-{version}-{transport}-python"}
        first = await client.call_tool("counted", meta=meta)
        again = await client.call_tool("counted", meta=meta)
        seen["replayed"] = bool(again.meta["toolhost/replayed"]) and first.structured_content == again.structured_content
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
