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

class ApprovalScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_SCOPE_UNSPECIFIED: _ClassVar[ApprovalScope]
    APPROVAL_SCOPE_RUN: _ClassVar[ApprovalScope]
    APPROVAL_SCOPE_SESSION: _ClassVar[ApprovalScope]
    APPROVAL_SCOPE_PRINCIPAL: _ClassVar[ApprovalScope]

class ApprovalEnd(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_END_UNSPECIFIED: _ClassVar[ApprovalEnd]
    APPROVAL_END_REVOKED: _ClassVar[ApprovalEnd]
    APPROVAL_END_EXPIRED: _ClassVar[ApprovalEnd]
    APPROVAL_END_CHANGED: _ClassVar[ApprovalEnd]
    APPROVAL_END_RESTORED: _ClassVar[ApprovalEnd]
APPROVAL_SCOPE_UNSPECIFIED: ApprovalScope
APPROVAL_SCOPE_RUN: ApprovalScope
APPROVAL_SCOPE_SESSION: ApprovalScope
APPROVAL_SCOPE_PRINCIPAL: ApprovalScope
APPROVAL_END_UNSPECIFIED: ApprovalEnd
APPROVAL_END_REVOKED: ApprovalEnd
APPROVAL_END_EXPIRED: ApprovalEnd
APPROVAL_END_CHANGED: ApprovalEnd
APPROVAL_END_RESTORED: ApprovalEnd

class ArgumentPattern(_message.Message):
    __slots__ = ("argument", "path_prefix", "origin", "any")
    ARGUMENT_FIELD_NUMBER: _ClassVar[int]
    PATH_PREFIX_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ANY_FIELD_NUMBER: _ClassVar[int]
    argument: str
    path_prefix: str
    origin: str
    any: bool
    def __init__(self, argument: _Optional[str] = ..., path_prefix: _Optional[str] = ..., origin: _Optional[str] = ..., any: bool = ...) -> None: ...

class CreateApprovalRequest(_message.Message):
    __slots__ = ("request_id", "tool", "arguments", "definition_sha256", "agent", "run", "session", "scope", "any_arguments", "patterns", "expire_time", "call_id", "approved_by", "reason", "approver", "on_behalf_of", "context")
    class ContextEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_SHA256_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ANY_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    APPROVER_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tool: str
    arguments: bytes
    definition_sha256: str
    agent: str
    run: str
    session: str
    scope: ApprovalScope
    any_arguments: bool
    patterns: _containers.RepeatedCompositeFieldContainer[ArgumentPattern]
    expire_time: _timestamp_pb2.Timestamp
    call_id: str
    approved_by: str
    reason: str
    approver: _principal_pb2.Principal
    on_behalf_of: _principal_pb2.Principal
    context: _containers.ScalarMap[str, bytes]
    def __init__(self, request_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments: _Optional[bytes] = ..., definition_sha256: _Optional[str] = ..., agent: _Optional[str] = ..., run: _Optional[str] = ..., session: _Optional[str] = ..., scope: _Optional[_Union[ApprovalScope, str]] = ..., any_arguments: bool = ..., patterns: _Optional[_Iterable[_Union[ArgumentPattern, _Mapping[str, object]]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., call_id: _Optional[str] = ..., approved_by: _Optional[str] = ..., reason: _Optional[str] = ..., approver: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ..., context: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class CreateApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: StandingApproval
    def __init__(self, approval: _Optional[_Union[StandingApproval, _Mapping[str, object]]] = ...) -> None: ...

class StandingApproval(_message.Message):
    __slots__ = ("id", "principal", "via", "agent", "tool", "plugin", "definition_sha256", "rule", "scope", "run", "session", "any_arguments", "patterns", "arguments", "approver", "approved_by", "reason", "call_id", "create_time", "expire_time", "end_time", "end", "revoked_by")
    ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_SHA256_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ANY_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    APPROVER_FIELD_NUMBER: _ClassVar[int]
    APPROVED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    REVOKED_BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    principal: str
    via: str
    agent: str
    tool: str
    plugin: str
    definition_sha256: str
    rule: str
    scope: ApprovalScope
    run: str
    session: str
    any_arguments: bool
    patterns: _containers.RepeatedCompositeFieldContainer[ArgumentPattern]
    arguments: bytes
    approver: str
    approved_by: str
    reason: str
    call_id: str
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    end: ApprovalEnd
    revoked_by: str
    def __init__(self, id: _Optional[str] = ..., principal: _Optional[str] = ..., via: _Optional[str] = ..., agent: _Optional[str] = ..., tool: _Optional[str] = ..., plugin: _Optional[str] = ..., definition_sha256: _Optional[str] = ..., rule: _Optional[str] = ..., scope: _Optional[_Union[ApprovalScope, str]] = ..., run: _Optional[str] = ..., session: _Optional[str] = ..., any_arguments: bool = ..., patterns: _Optional[_Iterable[_Union[ArgumentPattern, _Mapping[str, object]]]] = ..., arguments: _Optional[bytes] = ..., approver: _Optional[str] = ..., approved_by: _Optional[str] = ..., reason: _Optional[str] = ..., call_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., end: _Optional[_Union[ApprovalEnd, str]] = ..., revoked_by: _Optional[str] = ...) -> None: ...

class ListApprovalsRequest(_message.Message):
    __slots__ = ("on_behalf_of", "all_principals", "tenants", "tool", "run", "ended", "page_size", "page_token", "approved")
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    ALL_PRINCIPALS_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    on_behalf_of: _principal_pb2.Principal
    all_principals: bool
    tenants: _containers.RepeatedScalarFieldContainer[str]
    tool: str
    run: str
    ended: bool
    page_size: int
    page_token: str
    approved: bool
    def __init__(self, on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ..., all_principals: bool = ..., tenants: _Optional[_Iterable[str]] = ..., tool: _Optional[str] = ..., run: _Optional[str] = ..., ended: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., approved: bool = ...) -> None: ...

class ListApprovalsResponse(_message.Message):
    __slots__ = ("approvals", "next_page_token")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[StandingApproval]
    next_page_token: str
    def __init__(self, approvals: _Optional[_Iterable[_Union[StandingApproval, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RevokeApprovalRequest(_message.Message):
    __slots__ = ("id", "on_behalf_of", "reason")
    ID_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    id: str
    on_behalf_of: _principal_pb2.Principal
    reason: str
    def __init__(self, id: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ..., reason: _Optional[str] = ...) -> None: ...

class RevokeApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: StandingApproval
    def __init__(self, approval: _Optional[_Union[StandingApproval, _Mapping[str, object]]] = ...) -> None: ...
