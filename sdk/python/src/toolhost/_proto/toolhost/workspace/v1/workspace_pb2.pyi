from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FileKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FILE_KIND_UNSPECIFIED: _ClassVar[FileKind]
    FILE_KIND_REGULAR: _ClassVar[FileKind]
    FILE_KIND_FOLDER: _ClassVar[FileKind]
    FILE_KIND_LINK: _ClassVar[FileKind]
    FILE_KIND_FIFO: _ClassVar[FileKind]
    FILE_KIND_SOCKET: _ClassVar[FileKind]
    FILE_KIND_DEVICE: _ClassVar[FileKind]
FILE_KIND_UNSPECIFIED: FileKind
FILE_KIND_REGULAR: FileKind
FILE_KIND_FOLDER: FileKind
FILE_KIND_LINK: FileKind
FILE_KIND_FIFO: FileKind
FILE_KIND_SOCKET: FileKind
FILE_KIND_DEVICE: FileKind

class Place(_message.Message):
    __slots__ = ("workspace", "within", "name")
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    workspace: str
    within: _containers.RepeatedScalarFieldContainer[str]
    name: str
    def __init__(self, workspace: _Optional[str] = ..., within: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("place",)
    PLACE_FIELD_NUMBER: _ClassVar[int]
    place: Place
    def __init__(self, place: _Optional[_Union[Place, _Mapping[str, object]]] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("paths", "commands")
    PATHS_FIELD_NUMBER: _ClassVar[int]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    paths: _containers.RepeatedScalarFieldContainer[str]
    commands: bool
    def __init__(self, paths: _Optional[_Iterable[str]] = ..., commands: bool = ...) -> None: ...

class FileInfo(_message.Message):
    __slots__ = ("name", "kind", "permissions", "size", "modified_unix_nanos", "target", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PERMISSIONS_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    MODIFIED_UNIX_NANOS_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: FileKind
    permissions: int
    size: int
    modified_unix_nanos: int
    target: str
    version: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[FileKind, str]] = ..., permissions: _Optional[int] = ..., size: _Optional[int] = ..., modified_unix_nanos: _Optional[int] = ..., target: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class StatRequest(_message.Message):
    __slots__ = ("place",)
    PLACE_FIELD_NUMBER: _ClassVar[int]
    place: Place
    def __init__(self, place: _Optional[_Union[Place, _Mapping[str, object]]] = ...) -> None: ...

class StatResponse(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: FileInfo
    def __init__(self, info: _Optional[_Union[FileInfo, _Mapping[str, object]]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("place",)
    PLACE_FIELD_NUMBER: _ClassVar[int]
    place: Place
    def __init__(self, place: _Optional[_Union[Place, _Mapping[str, object]]] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[FileInfo]
    def __init__(self, entries: _Optional[_Iterable[_Union[FileInfo, _Mapping[str, object]]]] = ...) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ("place",)
    PLACE_FIELD_NUMBER: _ClassVar[int]
    place: Place
    def __init__(self, place: _Optional[_Union[Place, _Mapping[str, object]]] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ("info", "data")
    INFO_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    info: FileInfo
    data: bytes
    def __init__(self, info: _Optional[_Union[FileInfo, _Mapping[str, object]]] = ..., data: _Optional[bytes] = ...) -> None: ...

class WriteRequest(_message.Message):
    __slots__ = ("place", "if_version", "size", "data")
    PLACE_FIELD_NUMBER: _ClassVar[int]
    IF_VERSION_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    place: Place
    if_version: str
    size: int
    data: bytes
    def __init__(self, place: _Optional[_Union[Place, _Mapping[str, object]]] = ..., if_version: _Optional[str] = ..., size: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class WriteResponse(_message.Message):
    __slots__ = ("before", "after")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    before: FileInfo
    after: FileInfo
    def __init__(self, before: _Optional[_Union[FileInfo, _Mapping[str, object]]] = ..., after: _Optional[_Union[FileInfo, _Mapping[str, object]]] = ...) -> None: ...

class ExecuteRequest(_message.Message):
    __slots__ = ("command", "input", "start", "end")
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    command: Command
    input: bytes
    start: StartCommand
    end: EndCommand
    def __init__(self, command: _Optional[_Union[Command, _Mapping[str, object]]] = ..., input: _Optional[bytes] = ..., start: _Optional[_Union[StartCommand, _Mapping[str, object]]] = ..., end: _Optional[_Union[EndCommand, _Mapping[str, object]]] = ...) -> None: ...

class Command(_message.Message):
    __slots__ = ("place", "argv", "environment")
    class EnvironmentEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PLACE_FIELD_NUMBER: _ClassVar[int]
    ARGV_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    place: Place
    argv: _containers.RepeatedScalarFieldContainer[str]
    environment: _containers.ScalarMap[str, str]
    def __init__(self, place: _Optional[_Union[Place, _Mapping[str, object]]] = ..., argv: _Optional[_Iterable[str]] = ..., environment: _Optional[_Mapping[str, str]] = ...) -> None: ...

class StartCommand(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class EndCommand(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ExecuteResponse(_message.Message):
    __slots__ = ("stdout", "stderr", "exit")
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    stdout: bytes
    stderr: bytes
    exit: CommandExit
    def __init__(self, stdout: _Optional[bytes] = ..., stderr: _Optional[bytes] = ..., exit: _Optional[_Union[CommandExit, _Mapping[str, object]]] = ...) -> None: ...

class CommandExit(_message.Message):
    __slots__ = ("code", "signal", "ended", "left", "unknown")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    code: int
    signal: int
    ended: bool
    left: int
    unknown: str
    def __init__(self, code: _Optional[int] = ..., signal: _Optional[int] = ..., ended: bool = ..., left: _Optional[int] = ..., unknown: _Optional[str] = ...) -> None: ...

class NameError(_message.Message):
    __slots__ = ("reason", "message")
    class Reason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        REASON_UNSPECIFIED: _ClassVar[NameError.Reason]
        REASON_NOT_FOUND: _ClassVar[NameError.Reason]
        REASON_PERMISSION: _ClassVar[NameError.Reason]
        REASON_INVALID: _ClassVar[NameError.Reason]
        REASON_OUTSIDE: _ClassVar[NameError.Reason]
        REASON_FOLDER: _ClassVar[NameError.Reason]
        REASON_NOT_FOLDER: _ClassVar[NameError.Reason]
        REASON_IRREGULAR: _ClassVar[NameError.Reason]
        REASON_TOO_LARGE: _ClassVar[NameError.Reason]
        REASON_CHANGED: _ClassVar[NameError.Reason]
        REASON_NO_COMMANDS: _ClassVar[NameError.Reason]
        REASON_NO_PROGRAM: _ClassVar[NameError.Reason]
        REASON_UNAVAILABLE: _ClassVar[NameError.Reason]
    REASON_UNSPECIFIED: NameError.Reason
    REASON_NOT_FOUND: NameError.Reason
    REASON_PERMISSION: NameError.Reason
    REASON_INVALID: NameError.Reason
    REASON_OUTSIDE: NameError.Reason
    REASON_FOLDER: NameError.Reason
    REASON_NOT_FOLDER: NameError.Reason
    REASON_IRREGULAR: NameError.Reason
    REASON_TOO_LARGE: NameError.Reason
    REASON_CHANGED: NameError.Reason
    REASON_NO_COMMANDS: NameError.Reason
    REASON_NO_PROGRAM: NameError.Reason
    REASON_UNAVAILABLE: NameError.Reason
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    reason: NameError.Reason
    message: str
    def __init__(self, reason: _Optional[_Union[NameError.Reason, str]] = ..., message: _Optional[str] = ...) -> None: ...
