"""List, search and render tools."""

import json

from toolhost.client import Client, Format

with Client() as toolhost:
    print([tool.name for tool in toolhost.list_tools(names=["echo", "fail"])])
    print(toolhost.search_tools("effects")[0].tool.name)
    rendered = toolhost.render_tools(Format.ANTHROPIC, names=["echo"])
    print(json.loads(rendered.content)[0]["name"])

# Output:
# ['echo', 'fail']
# effects
# echo
