"""Other names of arguments."""

from __future__ import annotations

from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from toolhost.plugin._signature import DeclarationError


class Aliases:
    """Other names by which models send an argument, such as those that other tools have.

        def read(path: Annotated[str, Aliases("file_path", "filename")]) -> str: ...

    toolhost renames an argument that was sent under one of them, and shows them to no model. Fields of
    pydantic models, dataclasses and typed dictionaries can have them too. The name `*` of a list of objects
    says that models send the properties of its only item in place of the list.
    """

    def __init__(self, *names: str) -> None:
        """Raise DeclarationError if there are no names, or an empty one."""
        if not names or not all(names):
            raise DeclarationError("Aliases takes one name or more")
        self.names = names

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Add the names to the schema of the argument."""
        return {**handler(core_schema), "x-toolhost-aliases": list(self.names)}
