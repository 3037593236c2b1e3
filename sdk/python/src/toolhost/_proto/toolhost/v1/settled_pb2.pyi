from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SettledVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SETTLED_VERDICT_UNSPECIFIED: _ClassVar[SettledVerdict]
    SETTLED_VERDICT_HAPPENED: _ClassVar[SettledVerdict]
    SETTLED_VERDICT_DID_NOT_HAPPEN: _ClassVar[SettledVerdict]
    SETTLED_VERDICT_UNKNOWN: _ClassVar[SettledVerdict]
SETTLED_VERDICT_UNSPECIFIED: SettledVerdict
SETTLED_VERDICT_HAPPENED: SettledVerdict
SETTLED_VERDICT_DID_NOT_HAPPEN: SettledVerdict
SETTLED_VERDICT_UNKNOWN: SettledVerdict

class Settled(_message.Message):
    __slots__ = ("verdict", "reason")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    verdict: SettledVerdict
    reason: str
    def __init__(self, verdict: _Optional[_Union[SettledVerdict, str]] = ..., reason: _Optional[str] = ...) -> None: ...
