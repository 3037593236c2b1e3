import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolhost._proto.toolhost.tool.v1 import error_pb2 as _error_pb2
from toolhost._proto.toolhost.tool.v1 import permissions_pb2 as _permissions_pb2
from toolhost._proto.toolhost.tool.v1 import right_pb2 as _right_pb2
from toolhost._proto.toolhost.tool.v1 import status_pb2 as _status_pb2
from toolhost._proto.toolhost.tool.v1 import version_pb2 as _version_pb2
from toolhost._proto.toolhost.v1 import settled_pb2 as _settled_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PluginState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLUGIN_STATE_UNSPECIFIED: _ClassVar[PluginState]
    PLUGIN_STATE_ENABLED: _ClassVar[PluginState]
    PLUGIN_STATE_PAUSED: _ClassVar[PluginState]
    PLUGIN_STATE_BACKING_OFF: _ClassVar[PluginState]
    PLUGIN_STATE_QUARANTINED: _ClassVar[PluginState]
    PLUGIN_STATE_DISABLED: _ClassVar[PluginState]
    PLUGIN_STATE_UNUSABLE: _ClassVar[PluginState]

class InstanceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INSTANCE_STATE_UNSPECIFIED: _ClassVar[InstanceState]
    INSTANCE_STATE_QUEUED: _ClassVar[InstanceState]
    INSTANCE_STATE_VERIFYING: _ClassVar[InstanceState]
    INSTANCE_STATE_STARTING: _ClassVar[InstanceState]
    INSTANCE_STATE_HANDSHAKING: _ClassVar[InstanceState]
    INSTANCE_STATE_WARMING: _ClassVar[InstanceState]
    INSTANCE_STATE_READY: _ClassVar[InstanceState]
    INSTANCE_STATE_UNHEALTHY: _ClassVar[InstanceState]
    INSTANCE_STATE_DRAINING: _ClassVar[InstanceState]
    INSTANCE_STATE_STOPPING: _ClassVar[InstanceState]
    INSTANCE_STATE_EXITED: _ClassVar[InstanceState]

class CallState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALL_STATE_UNSPECIFIED: _ClassVar[CallState]
    CALL_STATE_RUNNING: _ClassVar[CallState]
    CALL_STATE_SUCCEEDED: _ClassVar[CallState]
    CALL_STATE_TOOL_ERROR: _ClassVar[CallState]
    CALL_STATE_FAILED: _ClassVar[CallState]
    CALL_STATE_NEEDS_APPROVAL: _ClassVar[CallState]
PLUGIN_STATE_UNSPECIFIED: PluginState
PLUGIN_STATE_ENABLED: PluginState
PLUGIN_STATE_PAUSED: PluginState
PLUGIN_STATE_BACKING_OFF: PluginState
PLUGIN_STATE_QUARANTINED: PluginState
PLUGIN_STATE_DISABLED: PluginState
PLUGIN_STATE_UNUSABLE: PluginState
INSTANCE_STATE_UNSPECIFIED: InstanceState
INSTANCE_STATE_QUEUED: InstanceState
INSTANCE_STATE_VERIFYING: InstanceState
INSTANCE_STATE_STARTING: InstanceState
INSTANCE_STATE_HANDSHAKING: InstanceState
INSTANCE_STATE_WARMING: InstanceState
INSTANCE_STATE_READY: InstanceState
INSTANCE_STATE_UNHEALTHY: InstanceState
INSTANCE_STATE_DRAINING: InstanceState
INSTANCE_STATE_STOPPING: InstanceState
INSTANCE_STATE_EXITED: InstanceState
CALL_STATE_UNSPECIFIED: CallState
CALL_STATE_RUNNING: CallState
CALL_STATE_SUCCEEDED: CallState
CALL_STATE_TOOL_ERROR: CallState
CALL_STATE_FAILED: CallState
CALL_STATE_NEEDS_APPROVAL: CallState

class Plugin(_message.Message):
    __slots__ = ("name", "version", "description", "path", "digest", "state", "reason", "tools", "instances", "launches", "last_exit", "warnings", "recent_exits", "retry_time", "previous_digest", "pinned_digest", "refusal", "filters", "permissions", "ungranted", "isolation", "sdk", "own_filters", "workspace", "workspace_backend")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    INSTANCES_FIELD_NUMBER: _ClassVar[int]
    LAUNCHES_FIELD_NUMBER: _ClassVar[int]
    LAST_EXIT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    RECENT_EXITS_FIELD_NUMBER: _ClassVar[int]
    RETRY_TIME_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PINNED_DIGEST_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    PERMISSIONS_FIELD_NUMBER: _ClassVar[int]
    UNGRANTED_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    OWN_FILTERS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_BACKEND_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    description: str
    path: str
    digest: str
    state: PluginState
    reason: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    instances: int
    launches: int
    last_exit: _error_pb2.Exit
    warnings: _containers.RepeatedScalarFieldContainer[str]
    recent_exits: _containers.RepeatedCompositeFieldContainer[PluginExit]
    retry_time: _timestamp_pb2.Timestamp
    previous_digest: str
    pinned_digest: str
    refusal: PluginRefusal
    filters: _containers.RepeatedScalarFieldContainer[str]
    permissions: _permissions_pb2.Permissions
    ungranted: _containers.RepeatedCompositeFieldContainer[Ungranted]
    isolation: str
    sdk: _version_pb2.SdkInfo
    own_filters: _containers.RepeatedCompositeFieldContainer[OwnFilter]
    workspace: _permissions_pb2.Access
    workspace_backend: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., description: _Optional[str] = ..., path: _Optional[str] = ..., digest: _Optional[str] = ..., state: _Optional[_Union[PluginState, str]] = ..., reason: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ..., instances: _Optional[int] = ..., launches: _Optional[int] = ..., last_exit: _Optional[_Union[_error_pb2.Exit, _Mapping[str, object]]] = ..., warnings: _Optional[_Iterable[str]] = ..., recent_exits: _Optional[_Iterable[_Union[PluginExit, _Mapping[str, object]]]] = ..., retry_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., previous_digest: _Optional[str] = ..., pinned_digest: _Optional[str] = ..., refusal: _Optional[_Union[PluginRefusal, _Mapping[str, object]]] = ..., filters: _Optional[_Iterable[str]] = ..., permissions: _Optional[_Union[_permissions_pb2.Permissions, _Mapping[str, object]]] = ..., ungranted: _Optional[_Iterable[_Union[Ungranted, _Mapping[str, object]]]] = ..., isolation: _Optional[str] = ..., sdk: _Optional[_Union[_version_pb2.SdkInfo, _Mapping[str, object]]] = ..., own_filters: _Optional[_Iterable[_Union[OwnFilter, _Mapping[str, object]]]] = ..., workspace: _Optional[_Union[_permissions_pb2.Access, str]] = ..., workspace_backend: _Optional[str] = ...) -> None: ...

class OwnFilter(_message.Message):
    __slots__ = ("name", "tools")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    name: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ...) -> None: ...

class Ungranted(_message.Message):
    __slots__ = ("request", "grant")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    request: str
    grant: str
    def __init__(self, request: _Optional[str] = ..., grant: _Optional[str] = ...) -> None: ...

class PluginRefusal(_message.Message):
    __slots__ = ("digest", "reason", "locked", "name")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    LOCKED_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    digest: str
    reason: str
    locked: bool
    name: str
    def __init__(self, digest: _Optional[str] = ..., reason: _Optional[str] = ..., locked: bool = ..., name: _Optional[str] = ...) -> None: ...

class PluginExit(_message.Message):
    __slots__ = ("instance", "time", "exit", "expected", "calls", "tenant", "hidden_calls", "unhealthy")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_CALLS_FIELD_NUMBER: _ClassVar[int]
    UNHEALTHY_FIELD_NUMBER: _ClassVar[int]
    instance: str
    time: _timestamp_pb2.Timestamp
    exit: _error_pb2.Exit
    expected: bool
    calls: _containers.RepeatedCompositeFieldContainer[ExitCall]
    tenant: str
    hidden_calls: int
    unhealthy: bool
    def __init__(self, instance: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., exit: _Optional[_Union[_error_pb2.Exit, _Mapping[str, object]]] = ..., expected: bool = ..., calls: _Optional[_Iterable[_Union[ExitCall, _Mapping[str, object]]]] = ..., tenant: _Optional[str] = ..., hidden_calls: _Optional[int] = ..., unhealthy: bool = ...) -> None: ...

class ExitCall(_message.Message):
    __slots__ = ("call_id", "tool", "session", "principal", "start_time", "arguments_digest")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    session: str
    principal: str
    start_time: _timestamp_pb2.Timestamp
    arguments_digest: str
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., session: _Optional[str] = ..., principal: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., arguments_digest: _Optional[str] = ...) -> None: ...

class Instance(_message.Message):
    __slots__ = ("id", "plugin", "state", "pid", "calls", "total_calls", "start_time", "rss_bytes", "digest", "limits", "sandbox", "tenant")
    ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CALLS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    id: str
    plugin: str
    state: InstanceState
    pid: int
    calls: int
    total_calls: int
    start_time: _timestamp_pb2.Timestamp
    rss_bytes: int
    digest: str
    limits: _containers.RepeatedCompositeFieldContainer[EffectiveLimit]
    sandbox: Sandbox
    tenant: str
    def __init__(self, id: _Optional[str] = ..., plugin: _Optional[str] = ..., state: _Optional[_Union[InstanceState, str]] = ..., pid: _Optional[int] = ..., calls: _Optional[int] = ..., total_calls: _Optional[int] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., rss_bytes: _Optional[int] = ..., digest: _Optional[str] = ..., limits: _Optional[_Iterable[_Union[EffectiveLimit, _Mapping[str, object]]]] = ..., sandbox: _Optional[_Union[Sandbox, _Mapping[str, object]]] = ..., tenant: _Optional[str] = ...) -> None: ...

class Sandbox(_message.Message):
    __slots__ = ("mode", "network", "workspace", "read", "write", "layers", "workspace_backend")
    MODE_FIELD_NUMBER: _ClassVar[int]
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    WRITE_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_BACKEND_FIELD_NUMBER: _ClassVar[int]
    mode: str
    network: bool
    workspace: _permissions_pb2.Access
    read: _containers.RepeatedScalarFieldContainer[str]
    write: _containers.RepeatedScalarFieldContainer[str]
    layers: _containers.RepeatedCompositeFieldContainer[SandboxLayer]
    workspace_backend: str
    def __init__(self, mode: _Optional[str] = ..., network: bool = ..., workspace: _Optional[_Union[_permissions_pb2.Access, str]] = ..., read: _Optional[_Iterable[str]] = ..., write: _Optional[_Iterable[str]] = ..., layers: _Optional[_Iterable[_Union[SandboxLayer, _Mapping[str, object]]]] = ..., workspace_backend: _Optional[str] = ...) -> None: ...

class SandboxLayer(_message.Message):
    __slots__ = ("name", "effective", "mechanism", "note")
    NAME_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    MECHANISM_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    name: str
    effective: bool
    mechanism: str
    note: str
    def __init__(self, name: _Optional[str] = ..., effective: bool = ..., mechanism: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class EffectiveLimit(_message.Message):
    __slots__ = ("name", "value", "mechanism", "note")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    MECHANISM_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    mechanism: str
    note: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ..., mechanism: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class ListPluginsRequest(_message.Message):
    __slots__ = ("conditions",)
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    conditions: bool
    def __init__(self, conditions: bool = ...) -> None: ...

class ListPluginsResponse(_message.Message):
    __slots__ = ("plugins", "conditions")
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    plugins: _containers.RepeatedCompositeFieldContainer[Plugin]
    conditions: _containers.RepeatedCompositeFieldContainer[Condition]
    def __init__(self, plugins: _Optional[_Iterable[_Union[Plugin, _Mapping[str, object]]]] = ..., conditions: _Optional[_Iterable[_Union[Condition, _Mapping[str, object]]]] = ...) -> None: ...

class Condition(_message.Message):
    __slots__ = ("name", "message", "problem")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    name: str
    message: str
    problem: bool
    def __init__(self, name: _Optional[str] = ..., message: _Optional[str] = ..., problem: bool = ...) -> None: ...

class ListInstancesRequest(_message.Message):
    __slots__ = ("plugin",)
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    def __init__(self, plugin: _Optional[str] = ...) -> None: ...

class ListInstancesResponse(_message.Message):
    __slots__ = ("instances",)
    INSTANCES_FIELD_NUMBER: _ClassVar[int]
    instances: _containers.RepeatedCompositeFieldContainer[Instance]
    def __init__(self, instances: _Optional[_Iterable[_Union[Instance, _Mapping[str, object]]]] = ...) -> None: ...

class RestartRequest(_message.Message):
    __slots__ = ("plugin", "force", "reason")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    force: bool
    reason: str
    def __init__(self, plugin: _Optional[str] = ..., force: bool = ..., reason: _Optional[str] = ...) -> None: ...

class RestartResponse(_message.Message):
    __slots__ = ("stopped", "started")
    STOPPED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    stopped: _containers.RepeatedScalarFieldContainer[str]
    started: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, stopped: _Optional[_Iterable[str]] = ..., started: _Optional[_Iterable[str]] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("plugin", "reason")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    reason: str
    def __init__(self, plugin: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DrainResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PauseRequest(_message.Message):
    __slots__ = ("plugin", "reason")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    reason: str
    def __init__(self, plugin: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class PauseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ResumeRequest(_message.Message):
    __slots__ = ("plugin",)
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    def __init__(self, plugin: _Optional[str] = ...) -> None: ...

class ResumeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClearQuarantineRequest(_message.Message):
    __slots__ = ("plugin",)
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    def __init__(self, plugin: _Optional[str] = ...) -> None: ...

class ClearQuarantineResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReloadRequest(_message.Message):
    __slots__ = ("plugins_only",)
    PLUGINS_ONLY_FIELD_NUMBER: _ClassVar[int]
    plugins_only: bool
    def __init__(self, plugins_only: bool = ...) -> None: ...

class ReloadResponse(_message.Message):
    __slots__ = ("added", "removed", "upgraded", "failures", "configuration")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    UPGRADED_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    added: _containers.RepeatedScalarFieldContainer[str]
    removed: _containers.RepeatedScalarFieldContainer[str]
    upgraded: _containers.RepeatedScalarFieldContainer[str]
    failures: _containers.RepeatedCompositeFieldContainer[ReloadFailure]
    configuration: ConfigurationChange
    def __init__(self, added: _Optional[_Iterable[str]] = ..., removed: _Optional[_Iterable[str]] = ..., upgraded: _Optional[_Iterable[str]] = ..., failures: _Optional[_Iterable[_Union[ReloadFailure, _Mapping[str, object]]]] = ..., configuration: _Optional[_Union[ConfigurationChange, _Mapping[str, object]]] = ...) -> None: ...

class ConfigurationChange(_message.Message):
    __slots__ = ("file", "keys", "problem", "changes")
    FILE_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    file: str
    keys: _containers.RepeatedScalarFieldContainer[str]
    problem: str
    changes: _containers.RepeatedCompositeFieldContainer[SettingChange]
    def __init__(self, file: _Optional[str] = ..., keys: _Optional[_Iterable[str]] = ..., problem: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[SettingChange, _Mapping[str, object]]]] = ...) -> None: ...

class SettingChange(_message.Message):
    __slots__ = ("key", "old", "new", "restart")
    KEY_FIELD_NUMBER: _ClassVar[int]
    OLD_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    RESTART_FIELD_NUMBER: _ClassVar[int]
    key: str
    old: str
    new: str
    restart: bool
    def __init__(self, key: _Optional[str] = ..., old: _Optional[str] = ..., new: _Optional[str] = ..., restart: bool = ...) -> None: ...

class DiffConfigurationRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DiffConfigurationResponse(_message.Message):
    __slots__ = ("configuration",)
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    configuration: ConfigurationChange
    def __init__(self, configuration: _Optional[_Union[ConfigurationChange, _Mapping[str, object]]] = ...) -> None: ...

class ReloadFailure(_message.Message):
    __slots__ = ("plugin", "reason")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    reason: str
    def __init__(self, plugin: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class UpgradeRequest(_message.Message):
    __slots__ = ("plugin", "reason")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    reason: str
    def __init__(self, plugin: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class UpgradeResponse(_message.Message):
    __slots__ = ("digest", "previous_digest")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    digest: str
    previous_digest: str
    def __init__(self, digest: _Optional[str] = ..., previous_digest: _Optional[str] = ...) -> None: ...

class GetLockFileRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetLockFileResponse(_message.Message):
    __slots__ = ("path", "enforced")
    PATH_FIELD_NUMBER: _ClassVar[int]
    ENFORCED_FIELD_NUMBER: _ClassVar[int]
    path: str
    enforced: bool
    def __init__(self, path: _Optional[str] = ..., enforced: bool = ...) -> None: ...

class RollbackRequest(_message.Message):
    __slots__ = ("plugin", "revision", "reason")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    revision: int
    reason: str
    def __init__(self, plugin: _Optional[str] = ..., revision: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class RollbackResponse(_message.Message):
    __slots__ = ("digest", "previous_digest")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    digest: str
    previous_digest: str
    def __init__(self, digest: _Optional[str] = ..., previous_digest: _Optional[str] = ...) -> None: ...

class ListRevisionsRequest(_message.Message):
    __slots__ = ("plugin",)
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    def __init__(self, plugin: _Optional[str] = ...) -> None: ...

class ListRevisionsResponse(_message.Message):
    __slots__ = ("revisions",)
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    revisions: _containers.RepeatedCompositeFieldContainer[Revision]
    def __init__(self, revisions: _Optional[_Iterable[_Union[Revision, _Mapping[str, object]]]] = ...) -> None: ...

class Revision(_message.Message):
    __slots__ = ("number", "digest", "time", "cause", "principal", "reason", "current", "kept")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    number: int
    digest: str
    time: _timestamp_pb2.Timestamp
    cause: str
    principal: str
    reason: str
    current: bool
    kept: bool
    def __init__(self, number: _Optional[int] = ..., digest: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., cause: _Optional[str] = ..., principal: _Optional[str] = ..., reason: _Optional[str] = ..., current: bool = ..., kept: bool = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ("plugin", "after_seq", "follow", "since_time", "tenants")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    FOLLOW_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    after_seq: int
    follow: bool
    since_time: _timestamp_pb2.Timestamp
    tenants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, plugin: _Optional[str] = ..., after_seq: _Optional[int] = ..., follow: bool = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., tenants: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchEventsResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: PluginEvent
    def __init__(self, event: _Optional[_Union[PluginEvent, _Mapping[str, object]]] = ...) -> None: ...

class PluginEvent(_message.Message):
    __slots__ = ("seq", "time", "type", "plugin", "instance", "digest", "reason", "until_time", "tenant")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UNTIL_TIME_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    seq: int
    time: _timestamp_pb2.Timestamp
    type: str
    plugin: str
    instance: str
    digest: str
    reason: str
    until_time: _timestamp_pb2.Timestamp
    tenant: str
    def __init__(self, seq: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., type: _Optional[str] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., digest: _Optional[str] = ..., reason: _Optional[str] = ..., until_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., tenant: _Optional[str] = ...) -> None: ...

class TailLogsRequest(_message.Message):
    __slots__ = ("plugin", "call_id", "last", "follow", "tenants")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    FOLLOW_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    call_id: str
    last: int
    follow: bool
    tenants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, plugin: _Optional[str] = ..., call_id: _Optional[str] = ..., last: _Optional[int] = ..., follow: bool = ..., tenants: _Optional[_Iterable[str]] = ...) -> None: ...

class TailLogsResponse(_message.Message):
    __slots__ = ("line",)
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: LogLine
    def __init__(self, line: _Optional[_Union[LogLine, _Mapping[str, object]]] = ...) -> None: ...

class LogLine(_message.Message):
    __slots__ = ("seq", "plugin", "instance", "call_id", "record", "tenant")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    seq: int
    plugin: str
    instance: str
    call_id: str
    record: _status_pb2.LogRecord
    tenant: str
    def __init__(self, seq: _Optional[int] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., call_id: _Optional[str] = ..., record: _Optional[_Union[_status_pb2.LogRecord, _Mapping[str, object]]] = ..., tenant: _Optional[str] = ...) -> None: ...

class ListCallsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "plugin", "tool", "session", "state", "call_id", "since_time", "tenants")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    plugin: str
    tool: str
    session: str
    state: CallState
    call_id: str
    since_time: _timestamp_pb2.Timestamp
    tenants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., plugin: _Optional[str] = ..., tool: _Optional[str] = ..., session: _Optional[str] = ..., state: _Optional[_Union[CallState, str]] = ..., call_id: _Optional[str] = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., tenants: _Optional[_Iterable[str]] = ...) -> None: ...

class ListCallsResponse(_message.Message):
    __slots__ = ("calls", "next_page_token")
    CALLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[CallRecord]
    next_page_token: str
    def __init__(self, calls: _Optional[_Iterable[_Union[CallRecord, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CallRecord(_message.Message):
    __slots__ = ("call_id", "principal", "session", "tool", "plugin", "instance", "state", "error", "start_time", "end_time", "settled", "node")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    principal: str
    session: str
    tool: str
    plugin: str
    instance: str
    state: CallState
    error: _error_pb2.Error
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    settled: _settled_pb2.Settled
    node: str
    def __init__(self, call_id: _Optional[str] = ..., principal: _Optional[str] = ..., session: _Optional[str] = ..., tool: _Optional[str] = ..., plugin: _Optional[str] = ..., instance: _Optional[str] = ..., state: _Optional[_Union[CallState, str]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping[str, object]]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., settled: _Optional[_Union[_settled_pb2.Settled, _Mapping[str, object]]] = ..., node: _Optional[str] = ...) -> None: ...

class GetStatsRequest(_message.Message):
    __slots__ = ("plugin", "since_time", "tenants", "own")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    OWN_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    since_time: _timestamp_pb2.Timestamp
    tenants: _containers.RepeatedScalarFieldContainer[str]
    own: bool
    def __init__(self, plugin: _Optional[str] = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., tenants: _Optional[_Iterable[str]] = ..., own: bool = ...) -> None: ...

class GetStatsResponse(_message.Message):
    __slots__ = ("tools",)
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ToolStats]
    def __init__(self, tools: _Optional[_Iterable[_Union[ToolStats, _Mapping[str, object]]]] = ...) -> None: ...

class ToolStats(_message.Message):
    __slots__ = ("tool", "plugin", "calls", "succeeded", "tool_errors", "failures", "total_duration", "mean_duration", "p50_duration", "p99_duration", "total_cost", "needs_approval")
    class FailuresEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    TOOL_ERRORS_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_DURATION_FIELD_NUMBER: _ClassVar[int]
    MEAN_DURATION_FIELD_NUMBER: _ClassVar[int]
    P50_DURATION_FIELD_NUMBER: _ClassVar[int]
    P99_DURATION_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COST_FIELD_NUMBER: _ClassVar[int]
    NEEDS_APPROVAL_FIELD_NUMBER: _ClassVar[int]
    tool: str
    plugin: str
    calls: int
    succeeded: int
    tool_errors: int
    failures: _containers.ScalarMap[str, int]
    total_duration: _duration_pb2.Duration
    mean_duration: _duration_pb2.Duration
    p50_duration: _duration_pb2.Duration
    p99_duration: _duration_pb2.Duration
    total_cost: float
    needs_approval: int
    def __init__(self, tool: _Optional[str] = ..., plugin: _Optional[str] = ..., calls: _Optional[int] = ..., succeeded: _Optional[int] = ..., tool_errors: _Optional[int] = ..., failures: _Optional[_Mapping[str, int]] = ..., total_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., mean_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., p50_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., p99_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., total_cost: _Optional[float] = ..., needs_approval: _Optional[int] = ...) -> None: ...

class ReadAuditRequest(_message.Message):
    __slots__ = ("principal", "call_id", "tool", "kind", "decision", "since_time", "until_time", "tenants", "last", "follow", "approver")
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    UNTIL_TIME_FIELD_NUMBER: _ClassVar[int]
    TENANTS_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    FOLLOW_FIELD_NUMBER: _ClassVar[int]
    APPROVER_FIELD_NUMBER: _ClassVar[int]
    principal: str
    call_id: str
    tool: str
    kind: str
    decision: str
    since_time: _timestamp_pb2.Timestamp
    until_time: _timestamp_pb2.Timestamp
    tenants: _containers.RepeatedScalarFieldContainer[str]
    last: int
    follow: bool
    approver: str
    def __init__(self, principal: _Optional[str] = ..., call_id: _Optional[str] = ..., tool: _Optional[str] = ..., kind: _Optional[str] = ..., decision: _Optional[str] = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., until_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., tenants: _Optional[_Iterable[str]] = ..., last: _Optional[int] = ..., follow: bool = ..., approver: _Optional[str] = ...) -> None: ...

class ReadAuditResponse(_message.Message):
    __slots__ = ("seq", "line")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    seq: int
    line: str
    def __init__(self, seq: _Optional[int] = ..., line: _Optional[str] = ...) -> None: ...
