from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class VersionInfo(_message.Message):
    __slots__ = ("version", "commit", "contracts")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    CONTRACTS_FIELD_NUMBER: _ClassVar[int]
    version: str
    commit: str
    contracts: Contracts
    def __init__(self, version: _Optional[str] = ..., commit: _Optional[str] = ..., contracts: _Optional[_Union[Contracts, _Mapping[str, object]]] = ...) -> None: ...

class Contracts(_message.Message):
    __slots__ = ("plugin", "host", "agent", "workspace")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    host: str
    agent: str
    workspace: str
    def __init__(self, plugin: _Optional[str] = ..., host: _Optional[str] = ..., agent: _Optional[str] = ..., workspace: _Optional[str] = ...) -> None: ...

class SdkInfo(_message.Message):
    __slots__ = ("name", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...
