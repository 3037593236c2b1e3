import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolhost._proto.toolhost.tool.v1 import right_pb2 as _right_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Login(_message.Message):
    __slots__ = ("plugin", "url", "grant", "logged_in", "issuer", "scopes", "missing_scopes", "create_time", "expire_time", "renews", "problem")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    LOGGED_IN_FIELD_NUMBER: _ClassVar[int]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    MISSING_SCOPES_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    RENEWS_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    url: str
    grant: str
    logged_in: bool
    issuer: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    missing_scopes: _containers.RepeatedScalarFieldContainer[str]
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    renews: bool
    problem: str
    def __init__(self, plugin: _Optional[str] = ..., url: _Optional[str] = ..., grant: _Optional[str] = ..., logged_in: bool = ..., issuer: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ..., missing_scopes: _Optional[_Iterable[str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., renews: bool = ..., problem: _Optional[str] = ...) -> None: ...

class ListLoginsRequest(_message.Message):
    __slots__ = ("plugin",)
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    def __init__(self, plugin: _Optional[str] = ...) -> None: ...

class ListLoginsResponse(_message.Message):
    __slots__ = ("logins",)
    LOGINS_FIELD_NUMBER: _ClassVar[int]
    logins: _containers.RepeatedCompositeFieldContainer[Login]
    def __init__(self, logins: _Optional[_Iterable[_Union[Login, _Mapping[str, object]]]] = ...) -> None: ...

class BeginLoginRequest(_message.Message):
    __slots__ = ("plugin", "redirect_uri")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REDIRECT_URI_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    redirect_uri: str
    def __init__(self, plugin: _Optional[str] = ..., redirect_uri: _Optional[str] = ...) -> None: ...

class BeginLoginResponse(_message.Message):
    __slots__ = ("login_id", "url", "issuer", "scopes", "expire_time", "browser_url", "state", "user_code", "verify_url", "verify_url_complete")
    LOGIN_ID_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    BROWSER_URL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    USER_CODE_FIELD_NUMBER: _ClassVar[int]
    VERIFY_URL_FIELD_NUMBER: _ClassVar[int]
    VERIFY_URL_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    login_id: str
    url: str
    issuer: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    expire_time: _timestamp_pb2.Timestamp
    browser_url: str
    state: str
    user_code: str
    verify_url: str
    verify_url_complete: str
    def __init__(self, login_id: _Optional[str] = ..., url: _Optional[str] = ..., issuer: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., browser_url: _Optional[str] = ..., state: _Optional[str] = ..., user_code: _Optional[str] = ..., verify_url: _Optional[str] = ..., verify_url_complete: _Optional[str] = ...) -> None: ...

class FinishLoginRequest(_message.Message):
    __slots__ = ("plugin", "login_id", "code", "state", "issuer", "error", "error_description")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    LOGIN_ID_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ERROR_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    login_id: str
    code: str
    state: str
    issuer: str
    error: str
    error_description: str
    def __init__(self, plugin: _Optional[str] = ..., login_id: _Optional[str] = ..., code: _Optional[str] = ..., state: _Optional[str] = ..., issuer: _Optional[str] = ..., error: _Optional[str] = ..., error_description: _Optional[str] = ...) -> None: ...

class FinishLoginResponse(_message.Message):
    __slots__ = ("login",)
    LOGIN_FIELD_NUMBER: _ClassVar[int]
    login: Login
    def __init__(self, login: _Optional[_Union[Login, _Mapping[str, object]]] = ...) -> None: ...

class LogoutRequest(_message.Message):
    __slots__ = ("plugin",)
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    def __init__(self, plugin: _Optional[str] = ...) -> None: ...

class LogoutResponse(_message.Message):
    __slots__ = ("was_logged_in", "revocation_problem")
    WAS_LOGGED_IN_FIELD_NUMBER: _ClassVar[int]
    REVOCATION_PROBLEM_FIELD_NUMBER: _ClassVar[int]
    was_logged_in: bool
    revocation_problem: str
    def __init__(self, was_logged_in: bool = ..., revocation_problem: _Optional[str] = ...) -> None: ...
