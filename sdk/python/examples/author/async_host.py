"""AsyncHost runs tools in an asyncio test, many calls at a time."""

import asyncio

from toolhost.plugin import Plugin
from toolhost.testing import AsyncHost

plugin = Plugin("math")


@plugin.tool
async def double(number: int) -> int:
    """Double a number."""
    return 2 * number


async def main() -> None:
    """Call the tool three times at the same time."""
    async with AsyncHost(plugin) as host:
        results = await asyncio.gather(*(host.call("double", {"number": n}) for n in (1, 2, 3)))
        print([result.value for result in results])


if __name__ == "__main__":
    asyncio.run(main())

# Output:
# [2, 4, 6]
