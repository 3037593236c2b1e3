from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Access(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_UNSPECIFIED: _ClassVar[Access]
    ACCESS_NONE: _ClassVar[Access]
    ACCESS_READ: _ClassVar[Access]
    ACCESS_WRITE: _ClassVar[Access]
ACCESS_UNSPECIFIED: Access
ACCESS_NONE: Access
ACCESS_READ: Access
ACCESS_WRITE: Access

class Permissions(_message.Message):
    __slots__ = ("network", "workspace", "read", "write")
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    WRITE_FIELD_NUMBER: _ClassVar[int]
    network: bool
    workspace: Access
    read: _containers.RepeatedScalarFieldContainer[str]
    write: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, network: bool = ..., workspace: _Optional[_Union[Access, str]] = ..., read: _Optional[_Iterable[str]] = ..., write: _Optional[_Iterable[str]] = ...) -> None: ...
