"""A class receives its arguments while the model still writes them."""

from typing import Any

from toolhost.plugin import AsyncContext, Plugin
from toolhost.testing import Host

plugin = Plugin("editor")


@plugin.tool(name="write")
class Write:
    """Write a text."""

    async def preview(self, so_far: dict[str, Any], ctx: AsyncContext) -> None:
        await ctx.status(f"so far: {so_far.get('text', '')}")

    async def call(self, text: str) -> str:
        return f"wrote {text}"


if __name__ == "__main__":
    with Host(plugin) as host:
        call = host.stream("write")
        call.append('{"text":"Dear')
        print(call.wait_status(lambda status: status.message == "so far: Dear").message)
        call.append(' Ada"}')
        call.complete()
        print(call.wait().text)

# Output:
# so far: Dear
# wrote Dear Ada
