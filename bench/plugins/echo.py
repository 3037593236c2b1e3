"""The benchmark's tool in Python."""

from toolhost.plugin import Plugin

plugin = Plugin("echo", "1.0.0")
ANSWERS = "0123456789abcdef" * ((1 << 20) // 16)


@plugin.tool(name="echo", read_only=True, description="Answers with a text of the size asked for.")
def echo(size: int, note: str) -> str:
    return ANSWERS[:size]


if __name__ == "__main__":
    plugin.run()
