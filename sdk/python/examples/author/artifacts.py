"""A tool reads a large result of another tool by its handle."""

from toolhost.plugin import Context, Plugin, Text
from toolhost.testing import Host

plugin = Plugin("text")


@plugin.tool(read_only=True)
def count_lines(handle: str, ctx: Context) -> int:
    """Count the lines of an artifact."""
    return ctx.read_artifact(handle).data.count(b"\n")


if __name__ == "__main__":
    with Host(plugin) as host:
        print(host.call("count_lines", {"handle": "a-1"}, artifacts={"a-1": Text("line\n" * 1000)}).value)

# Output:
# 1000
