"""A dynamic tool has a different declaration for each session."""

from toolhost.plugin import Plugin, Variant, Viewer
from toolhost.testing import Host

plugin = Plugin("db")


def tables(viewer: Viewer) -> Variant:
    """Name the tables of the project in the description."""
    return Variant(description=f"Query the tables of the project {viewer.context['project']}.")


@plugin.tool(describe=tables, context_keys=["project"])
def query(sql: str) -> str:
    """Query a database."""
    return sql


if __name__ == "__main__":
    with Host(plugin) as host:
        print(host.describe()["query"].description)
        print(host.describe(session="s-1", context={"project": "moon"})["query"].description)

# Output:
# Query a database.
# Query the tables of the project moon.
