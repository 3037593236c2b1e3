"""A tool returns text, blocks of content, or a Result with effects, cost and metadata."""

from toolhost.plugin import Effect, File, Operation, Plugin, Result, Text
from toolhost.testing import Host

plugin = Plugin("reports")


@plugin.tool
def report(title: str) -> list[Text | File]:
    """Return a report as text and as a file."""
    return [Text(f"# {title}"), File(b"title\n", name="report.csv", media_type="text/csv")]


@plugin.tool(effect_keys=["visited"])
def visit(city: str) -> Result:
    """Visit a city, and add it to the list in the run context."""
    return Result(f"visited {city}", effects=[Effect("visited", city, Operation.APPEND)], cost=0.5)


if __name__ == "__main__":
    with Host(plugin) as host:
        print(host.call("report", {"title": "Rain"}).text)
        visited = host.call("visit", {"city": "Oslo"}).result
        assert visited is not None
        print(visited.text, visited.effects, visited.cost)

# Output:
# # Rain
# [file report.csv, text/csv, 6 bytes]
# visited Oslo [Effect(key='visited', value='Oslo', operation=<Operation.APPEND: 'append'>)] 0.5
