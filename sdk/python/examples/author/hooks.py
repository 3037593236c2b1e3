"""Hooks open and close what all calls share."""

from toolhost.plugin import Plugin
from toolhost.testing import Host

plugin = Plugin("db")
connection: list[str] = []


@plugin.on_startup
async def connect() -> None:
    """Open the connection."""
    connection.append("open")


@plugin.on_shutdown
def disconnect() -> None:
    """Close the connection."""
    connection.append("closed")


@plugin.tool
def state() -> str:
    """Return the state of the connection."""
    return connection[-1]


if __name__ == "__main__":
    with Host(plugin) as host:
        print(host.call("state").text)
    print(connection[-1])

# Output:
# open
# closed
