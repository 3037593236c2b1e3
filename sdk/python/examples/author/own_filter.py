"""A plugin applies a filter to its own tool. The operator configures nothing."""

import re

from toolhost.plugin import FilterCall, Plugin, Result
from toolhost.testing import Host

plugin = Plugin("bank")


@plugin.tool
def read_account(number: str) -> str:
    """Return what is known of an account."""
    return f"account DE02120300000000202051 of {number}"


@plugin.after(tools=["read_account"])
def mask(call: FilterCall) -> Result:
    """Keep account numbers out of results."""
    return Result(re.sub(r"[A-Z]{2}\d{20}", "[account]", call.result.text))


if __name__ == "__main__":
    with Host(plugin) as host:
        print(host.call("read_account", {"number": "7"}).text)

# Output:
# account [account] of 7
