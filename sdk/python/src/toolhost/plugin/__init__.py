"""Write toolhost plugins: typed functions become tools.

    from toolhost.plugin import Plugin

    plugin = Plugin("weather", "1.0.0")

    @plugin.tool(read_only=True)
    def forecast(city: str, days: int = 1) -> str:
        '''Say what the weather in a city will be.'''
        return f"rain in {city}"

    if __name__ == "__main__":
        plugin.run()

`Plugin.tool` documents how a function becomes a tool, and what it may return and raise.
`toolhost.testing` runs tools in a test.
"""

from toolhost.errors import Denied, Internal, RateLimited, ToolError, ToolhostError, Unavailable, Unsupported
from toolhost.plugin._aliases import Aliases
from toolhost.plugin._context import ArtifactData, AsyncContext, Context
from toolhost.plugin._declare import Options, Variant, Viewer
from toolhost.plugin._filter import DenyCall, FilterCall
from toolhost.plugin._plugin import Plugin
from toolhost.plugin._signature import DeclarationError
from toolhost.question import ModelAnswer, ModelMessage, ModelQuestion, ModelRole
from toolhost.result import Artifact, Content, Effect, File, Image, Json, Operation, Result, Text, Usage
from toolhost.settlement import Settlement, Verdict
from toolhost.spec import Example, Permissions, Retry, Spec
from toolhost.status import Progress, State, Status

__all__ = [
    "Aliases",
    "Artifact",
    "ArtifactData",
    "AsyncContext",
    "Content",
    "Context",
    "DeclarationError",
    "Denied",
    "DenyCall",
    "Effect",
    "Example",
    "File",
    "FilterCall",
    "Image",
    "Internal",
    "Json",
    "ModelAnswer",
    "ModelMessage",
    "ModelQuestion",
    "ModelRole",
    "Operation",
    "Options",
    "Permissions",
    "Plugin",
    "Progress",
    "RateLimited",
    "Result",
    "Retry",
    "Settlement",
    "Spec",
    "State",
    "Status",
    "Text",
    "ToolError",
    "ToolhostError",
    "Unavailable",
    "Unsupported",
    "Usage",
    "Variant",
    "Verdict",
    "Viewer",
]
