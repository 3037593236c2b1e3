import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolhost._proto.toolhost.tool.v1 import principal_pb2 as _principal_pb2
from toolhost._proto.toolhost.tool.v1 import right_pb2 as _right_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecisionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_KIND_UNSPECIFIED: _ClassVar[DecisionKind]
    DECISION_KIND_APPROVAL: _ClassVar[DecisionKind]
    DECISION_KIND_QUESTION: _ClassVar[DecisionKind]
    DECISION_KIND_OUTCOME: _ClassVar[DecisionKind]
    DECISION_KIND_PAUSE: _ClassVar[DecisionKind]
    DECISION_KIND_TOOL: _ClassVar[DecisionKind]

class DecisionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_STATE_UNSPECIFIED: _ClassVar[DecisionState]
    DECISION_STATE_WAITING: _ClassVar[DecisionState]
    DECISION_STATE_MADE: _ClassVar[DecisionState]
    DECISION_STATE_WITHDRAWN: _ClassVar[DecisionState]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_APPROVE: _ClassVar[Verdict]
    VERDICT_REJECT: _ClassVar[Verdict]
    VERDICT_ANSWER: _ClassVar[Verdict]
    VERDICT_EXPIRED: _ClassVar[Verdict]
DECISION_KIND_UNSPECIFIED: DecisionKind
DECISION_KIND_APPROVAL: DecisionKind
DECISION_KIND_QUESTION: DecisionKind
DECISION_KIND_OUTCOME: DecisionKind
DECISION_KIND_PAUSE: DecisionKind
DECISION_KIND_TOOL: DecisionKind
DECISION_STATE_UNSPECIFIED: DecisionState
DECISION_STATE_WAITING: DecisionState
DECISION_STATE_MADE: DecisionState
DECISION_STATE_WITHDRAWN: DecisionState
VERDICT_UNSPECIFIED: Verdict
VERDICT_APPROVE: Verdict
VERDICT_REJECT: Verdict
VERDICT_ANSWER: Verdict
VERDICT_EXPIRED: Verdict

class ListDecisionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "tenants", "on_behalf_of")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    tenants: _containers.RepeatedScalarFieldContainer[str]
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., tenants: _Optional[_Iterable[str]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ListDecisionsResponse(_message.Message):
    __slots__ = ("decisions", "next_page_token", "unavailable", "position")
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    next_page_token: str
    unavailable: _containers.RepeatedScalarFieldContainer[str]
    position: str
    def __init__(self, decisions: _Optional[_Iterable[_Union[Decision, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ..., unavailable: _Optional[_Iterable[str]] = ..., position: _Optional[str] = ...) -> None: ...

class ListMadeDecisionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMadeDecisionsResponse(_message.Message):
    __slots__ = ("decisions", "next_page_token")
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    next_page_token: str
    def __init__(self, decisions: _Optional[_Iterable[_Union[Decision, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetDecisionRequest(_message.Message):
    __slots__ = ("name", "on_behalf_of")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    name: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, name: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class GetDecisionResponse(_message.Message):
    __slots__ = ("decision",)
    DECISION_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    def __init__(self, decision: _Optional[_Union[Decision, _Mapping[str, object]]] = ...) -> None: ...

class WatchDecisionsRequest(_message.Message):
    __slots__ = ("tenants", "position", "on_behalf_of")
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    tenants: _containers.RepeatedScalarFieldContainer[str]
    position: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, tenants: _Optional[_Iterable[str]] = ..., position: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class WatchDecisionsResponse(_message.Message):
    __slots__ = ("restart", "source", "decisions", "complete", "position", "unavailable")
    RESTART_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    restart: bool
    source: str
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    complete: bool
    position: str
    unavailable: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, restart: bool = ..., source: _Optional[str] = ..., decisions: _Optional[_Iterable[_Union[Decision, _Mapping[str, object]]]] = ..., complete: bool = ..., position: _Optional[str] = ..., unavailable: _Optional[_Iterable[str]] = ...) -> None: ...

class DecideRequest(_message.Message):
    __slots__ = ("name", "etag", "verdict", "text", "arguments", "request_id", "decided_by_name", "on_behalf_of")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_NAME_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    name: str
    etag: str
    verdict: Verdict
    text: str
    arguments: bytes
    request_id: str
    decided_by_name: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, name: _Optional[str] = ..., etag: _Optional[str] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., text: _Optional[str] = ..., arguments: _Optional[bytes] = ..., request_id: _Optional[str] = ..., decided_by_name: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class DecideResponse(_message.Message):
    __slots__ = ("decision",)
    DECISION_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    def __init__(self, decision: _Optional[_Union[Decision, _Mapping[str, object]]] = ...) -> None: ...

class ExtendDecisionRequest(_message.Message):
    __slots__ = ("name", "expire_time", "on_behalf_of")
    NAME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    name: str
    expire_time: _timestamp_pb2.Timestamp
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, name: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ExtendDecisionResponse(_message.Message):
    __slots__ = ("decision",)
    DECISION_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    def __init__(self, decision: _Optional[_Union[Decision, _Mapping[str, object]]] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("name", "kind", "state", "run_id", "decision_id", "parent_run_id", "tenant", "principal", "call_id", "tool", "display_name", "plugin", "arguments", "reason", "options", "rule", "four_eyes", "schema", "diff", "cut", "request_time", "expire_time", "not_allowed", "verdict", "decide_time", "decided_by", "decided_by_name", "text", "etag", "approver_groups", "agent", "session", "context")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    FOUR_EYES_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    DIFF_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    NOT_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    DECIDE_TIME_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    APPROVER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: DecisionKind
    state: DecisionState
    run_id: str
    decision_id: str
    parent_run_id: str
    tenant: str
    principal: str
    call_id: str
    tool: str
    display_name: str
    plugin: str
    arguments: str
    reason: str
    options: _containers.RepeatedScalarFieldContainer[str]
    rule: str
    four_eyes: bool
    schema: str
    diff: str
    cut: bool
    request_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    not_allowed: str
    verdict: Verdict
    decide_time: _timestamp_pb2.Timestamp
    decided_by: str
    decided_by_name: str
    text: str
    etag: str
    approver_groups: _containers.RepeatedScalarFieldContainer[str]
    agent: str
    session: str
    context: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[DecisionKind, str]] = ..., state: _Optional[_Union[DecisionState, str]] = ..., run_id: _Optional[str] = ..., decision_id: _Optional[str] = ..., parent_run_id: _Optional[str] = ..., tenant: _Optional[str] = ..., principal: _Optional[str] = ..., call_id: _Optional[str] = ..., tool: _Optional[str] = ..., display_name: _Optional[str] = ..., plugin: _Optional[str] = ..., arguments: _Optional[str] = ..., reason: _Optional[str] = ..., options: _Optional[_Iterable[str]] = ..., rule: _Optional[str] = ..., four_eyes: bool = ..., schema: _Optional[str] = ..., diff: _Optional[str] = ..., cut: bool = ..., request_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., not_allowed: _Optional[str] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., decide_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., decided_by: _Optional[str] = ..., decided_by_name: _Optional[str] = ..., text: _Optional[str] = ..., etag: _Optional[str] = ..., approver_groups: _Optional[_Iterable[str]] = ..., agent: _Optional[str] = ..., session: _Optional[str] = ..., context: _Optional[str] = ...) -> None: ...
