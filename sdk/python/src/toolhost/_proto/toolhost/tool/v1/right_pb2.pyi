from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class Right(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RIGHT_UNSPECIFIED: _ClassVar[Right]
    RIGHT_TOOLS_LIST: _ClassVar[Right]
    RIGHT_TOOLS_CALL: _ClassVar[Right]
    RIGHT_CALLS_OWN: _ClassVar[Right]
    RIGHT_CALLS_APPROVE: _ClassVar[Right]
    RIGHT_CALLS_LIST: _ClassVar[Right]
    RIGHT_PLUGINS_READ: _ClassVar[Right]
    RIGHT_PLUGINS_OPERATE: _ClassVar[Right]
    RIGHT_PLUGINS_CHANGE: _ClassVar[Right]
    RIGHT_CONFIG_READ: _ClassVar[Right]
    RIGHT_CONFIG_RELOAD: _ClassVar[Right]
    RIGHT_EVENTS_READ: _ClassVar[Right]
    RIGHT_LOGS_READ: _ClassVar[Right]
    RIGHT_STATS_READ: _ClassVar[Right]
    RIGHT_AUDIT_READ: _ClassVar[Right]
    RIGHT_RUNS_START: _ClassVar[Right]
    RIGHT_RUNS_OWN: _ClassVar[Right]
    RIGHT_RUNS_LIST: _ClassVar[Right]
    RIGHT_RUNS_APPROVE: _ClassVar[Right]
    RIGHT_DELEGATE: _ClassVar[Right]
    RIGHT_VERSION_READ: _ClassVar[Right]
    RIGHT_REFLECTION_READ: _ClassVar[Right]
    RIGHT_SELF_READ: _ClassVar[Right]
    RIGHT_LOGINS_OWN: _ClassVar[Right]
    RIGHT_RUNS_CUSTOMIZE: _ClassVar[Right]
    RIGHT_RUNS_DELETE: _ClassVar[Right]
RIGHT_UNSPECIFIED: Right
RIGHT_TOOLS_LIST: Right
RIGHT_TOOLS_CALL: Right
RIGHT_CALLS_OWN: Right
RIGHT_CALLS_APPROVE: Right
RIGHT_CALLS_LIST: Right
RIGHT_PLUGINS_READ: Right
RIGHT_PLUGINS_OPERATE: Right
RIGHT_PLUGINS_CHANGE: Right
RIGHT_CONFIG_READ: Right
RIGHT_CONFIG_RELOAD: Right
RIGHT_EVENTS_READ: Right
RIGHT_LOGS_READ: Right
RIGHT_STATS_READ: Right
RIGHT_AUDIT_READ: Right
RIGHT_RUNS_START: Right
RIGHT_RUNS_OWN: Right
RIGHT_RUNS_LIST: Right
RIGHT_RUNS_APPROVE: Right
RIGHT_DELEGATE: Right
RIGHT_VERSION_READ: Right
RIGHT_REFLECTION_READ: Right
RIGHT_SELF_READ: Right
RIGHT_LOGINS_OWN: Right
RIGHT_RUNS_CUSTOMIZE: Right
RIGHT_RUNS_DELETE: Right
RIGHT_FIELD_NUMBER: _ClassVar[int]
right: _descriptor.FieldDescriptor
