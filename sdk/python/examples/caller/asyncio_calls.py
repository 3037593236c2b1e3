"""Make many calls at the same time."""

import asyncio

from toolhost.client import AsyncClient


async def main() -> None:
    """Make ten calls on one connection."""
    async with AsyncClient(timeout=30) as toolhost:
        outcomes = await asyncio.gather(*(toolhost.call("echo", {"n": n}) for n in range(10)))
        print(sum(outcome.value["n"] for outcome in outcomes))


asyncio.run(main())

# Output:
# 45
