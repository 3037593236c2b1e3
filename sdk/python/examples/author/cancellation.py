"""An async tool is cancelled with its call, and can clean up."""

import asyncio

from toolhost.plugin import AsyncContext, Plugin
from toolhost.testing import Host

plugin = Plugin("clock")


@plugin.tool
async def wait(ctx: AsyncContext) -> None:
    """Wait until the call is cancelled."""
    await ctx.status("waiting")
    try:
        await asyncio.Event().wait()
    finally:
        print("cleaned up")


if __name__ == "__main__":
    with Host(plugin) as host:
        call = host.stream("wait")
        call.complete({})
        call.wait_status(lambda status: status.message == "waiting")
        call.cancel("no longer needed")
        print(call.wait().error)

# Output:
# cleaned up
# the call was cancelled: no longer needed
