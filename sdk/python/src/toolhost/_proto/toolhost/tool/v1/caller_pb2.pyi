import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallerInfo(_message.Message):
    __slots__ = ("principal", "tenant", "groups", "credential", "credential_id", "expire_time", "address", "scope_roles", "scope_tools", "roles", "rights")
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ROLES_FIELD_NUMBER: _ClassVar[int]
    SCOPE_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    RIGHTS_FIELD_NUMBER: _ClassVar[int]
    principal: str
    tenant: str
    groups: _containers.RepeatedScalarFieldContainer[str]
    credential: str
    credential_id: str
    expire_time: _timestamp_pb2.Timestamp
    address: str
    scope_roles: _containers.RepeatedScalarFieldContainer[str]
    scope_tools: _containers.RepeatedScalarFieldContainer[str]
    roles: _containers.RepeatedCompositeFieldContainer[GrantedRole]
    rights: _containers.RepeatedCompositeFieldContainer[GrantedRight]
    def __init__(self, principal: _Optional[str] = ..., tenant: _Optional[str] = ..., groups: _Optional[_Iterable[str]] = ..., credential: _Optional[str] = ..., credential_id: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., address: _Optional[str] = ..., scope_roles: _Optional[_Iterable[str]] = ..., scope_tools: _Optional[_Iterable[str]] = ..., roles: _Optional[_Iterable[_Union[GrantedRole, _Mapping[str, object]]]] = ..., rights: _Optional[_Iterable[_Union[GrantedRight, _Mapping[str, object]]]] = ...) -> None: ...

class GrantedRole(_message.Message):
    __slots__ = ("role", "tenants", "all_tenants", "tools")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    ALL_TENANTS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    role: str
    tenants: _containers.RepeatedScalarFieldContainer[str]
    all_tenants: bool
    tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, role: _Optional[str] = ..., tenants: _Optional[_Iterable[str]] = ..., all_tenants: bool = ..., tools: _Optional[_Iterable[str]] = ...) -> None: ...

class GrantedRight(_message.Message):
    __slots__ = ("right", "tenants", "all_tenants")
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    ALL_TENANTS_FIELD_NUMBER: _ClassVar[int]
    right: str
    tenants: _containers.RepeatedScalarFieldContainer[str]
    all_tenants: bool
    def __init__(self, right: _Optional[str] = ..., tenants: _Optional[_Iterable[str]] = ..., all_tenants: bool = ...) -> None: ...
