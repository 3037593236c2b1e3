"""The Python SDK of toolhost: write plugins, and call toolhost and agentd.

- `toolhost.plugin` turns typed functions into tools.
- `toolhost.testing` runs these tools in a test, without a toolhost.
- `toolhost.client` lists and calls tools.
- `toolhost.agent` starts and follows runs of agentd.
- `toolhost.errors` defines the exceptions of all of them.

This module imports none of them, so that a plugin does not load the modules of the clients.
"""

__version__ = "0.1.0"
