"""toolhost in Python: write plugins, and call toolhost and agentd.

- `toolhost.plugin` turns typed functions into tools.
- `toolhost.testing` runs those tools in a test, without a toolhost.
- `toolhost.client` lists and calls tools.
- `toolhost.agent` lets agentd work on tasks.
- `toolhost.errors` has what all of them raise.

This module imports none of them, so that a plugin starts without what only callers need.
"""

__version__ = "0.1.0"
