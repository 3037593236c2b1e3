"""Run the tools of a plugin in a test, without a process and without a toolhost.

    from toolhost.testing import Host

    def test_forecast():
        with Host(plugin) as host:
            assert host.call("forecast", {"city": "Oslo"}).text == "rain in Oslo"

`Host` blocks, and `AsyncHost` is for asyncio tests. A call takes the same path as in production:
the host parses and validates the arguments, encodes and decodes the result, and checks it against
the output schema of the tool.
"""

from toolhost.testing._async import AsyncHost, AsyncStream
from toolhost.testing._call import CallResult, HostCallOptions
from toolhost.testing._client import AsyncHostClient, HostClient
from toolhost.testing._host import Host, Stream

__all__ = [
    "AsyncHost",
    "AsyncHostClient",
    "AsyncStream",
    "CallResult",
    "Host",
    "HostCallOptions",
    "HostClient",
    "Stream",
]
