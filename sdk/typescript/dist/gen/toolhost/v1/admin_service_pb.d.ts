import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type { Error, Exit } from "../tool/v1/error_pb.js";
import type { Access, Permissions } from "../tool/v1/permissions_pb.js";
import type { LogRecord } from "../tool/v1/status_pb.js";
import type { SdkInfo } from "../tool/v1/version_pb.js";
import type { Settled } from "./settled_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/v1/admin_service.proto.
 */
export declare const file_toolhost_v1_admin_service: GenFile;
/**
 * Plugin is an executable that contains tools.
 *
 * @generated from message toolhost.v1.Plugin
 */
export type Plugin = Message<"toolhost.v1.Plugin"> & {
    /**
     * The name that the plugin declares. The name of the file if toolhost could not call Describe.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The version that the plugin declares. May be empty.
     *
     * @generated from field: string version = 2;
     */
    version: string;
    /**
     * One line that describes the plugin. May be empty.
     *
     * @generated from field: string description = 3;
     */
    description: string;
    /**
     * The path of the executable.
     *
     * @generated from field: string path = 4;
     */
    path: string;
    /**
     * The SHA-256 digest of the executable, as `sha256:` and 64 hexadecimal digits.
     *
     * @generated from field: string digest = 5;
     */
    digest: string;
    /**
     * Whether the plugin accepts calls.
     *
     * @generated from field: toolhost.v1.PluginState state = 6;
     */
    state: PluginState;
    /**
     * Why the plugin is in that state, in English. Empty for ENABLED.
     *
     * @generated from field: string reason = 7;
     */
    reason: string;
    /**
     * The names of its tools.
     *
     * @generated from field: repeated string tools = 8;
     */
    tools: string[];
    /**
     * The number of running instances.
     *
     * @generated from field: uint32 instances = 9;
     */
    instances: number;
    /**
     * The number of instances started since toolhost started.
     *
     * @generated from field: uint64 launches = 10;
     */
    launches: bigint;
    /**
     * How the last instance ended. Unset if none has ended.
     *
     * @generated from field: toolhost.tool.v1.Exit last_exit = 11;
     */
    lastExit?: Exit | undefined;
    /**
     * Problems that do not disable the plugin, such as a tool that toolhost left out, in English.
     *
     * @generated from field: repeated string warnings = 12;
     */
    warnings: string[];
    /**
     * How the last instances ended, newest first. At most 10.
     *
     * @generated from field: repeated toolhost.v1.PluginExit recent_exits = 13;
     */
    recentExits: PluginExit[];
    /**
     * When a backoff ends, or when toolhost probes a quarantined plugin. Unset in other states.
     *
     * @generated from field: google.protobuf.Timestamp retry_time = 14;
     */
    retryTime?: Timestamp | undefined;
    /**
     * The digest of the previous executable, to which Rollback switches. Empty if there is none.
     *
     * @generated from field: string previous_digest = 15;
     */
    previousDigest: string;
    /**
     * The digest that the lock file allows. Empty if the lock file does not contain the plugin or is
     * not enforced.
     *
     * @generated from field: string pinned_digest = 16;
     */
    pinnedDigest: string;
    /**
     * Why toolhost does not use the executable that is now in the plugin's folder. Unset if toolhost
     * uses it, or has not read its description yet.
     *
     * @generated from field: toolhost.v1.PluginRefusal refusal = 17;
     */
    refusal?: PluginRefusal | undefined;
    /**
     * The names of its filters. The operator's configuration says which calls they apply to.
     *
     * @generated from field: repeated string filters = 18;
     */
    filters: string[];
    /**
     * The access that the plugin requests in plugin.yaml and in DescribeResponse. Unset if none.
     *
     * @generated from field: toolhost.tool.v1.Permissions permissions = 19;
     */
    permissions?: Permissions | undefined;
    /**
     * The requests of the plugin and its tools that the operator has not granted.
     *
     * @generated from field: repeated toolhost.v1.Ungranted ungranted = 20;
     */
    ungranted: Ungranted[];
    /**
     * Which calls share a process. "shared": all calls of all principals and sessions share a pool of
     * processes. "session": each session has its own process. "call": each call has its own process.
     * Calls in one process can read each other's memory, files and secrets.
     *
     * @generated from field: string isolation = 21;
     */
    isolation: string;
    /**
     * The SDK that the plugin declares. Unset if it declares none.
     *
     * @generated from field: toolhost.tool.v1.SdkInfo sdk = 22;
     */
    sdk?: SdkInfo | undefined;
    /**
     * The filters that the plugin applies to its own tools. No configuration of the operator is
     * necessary for them.
     *
     * @generated from field: repeated toolhost.v1.OwnFilter own_filters = 23;
     */
    ownFilters: OwnFilter[];
    /**
     * The access to the workspace that the operator grants. Unspecified if there is no workspace.
     *
     * @generated from field: toolhost.tool.v1.Access workspace = 24;
     */
    workspace: Access;
    /**
     * Where the workspace is: `local` (a folder of toolhost's machine), `memory` or `remote`. Empty if
     * there is none. Later versions may add names.
     *
     * @generated from field: string workspace_backend = 25;
     */
    workspaceBackend: string;
};
/**
 * Describes the message toolhost.v1.Plugin.
 * Use `create(PluginSchema)` to create a new message.
 */
export declare const PluginSchema: GenMessage<Plugin>;
/**
 * OwnFilter is a filter that a plugin applies to its own tools.
 *
 * @generated from message toolhost.v1.OwnFilter
 */
export type OwnFilter = Message<"toolhost.v1.OwnFilter"> & {
    /**
     * The name of the filter, as the plugin declares it.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The names of the tools, as callers use them.
     *
     * @generated from field: repeated string tools = 2;
     */
    tools: string[];
};
/**
 * Describes the message toolhost.v1.OwnFilter.
 * Use `create(OwnFilterSchema)` to create a new message.
 */
export declare const OwnFilterSchema: GenMessage<OwnFilter>;
/**
 * Ungranted is a request of a plugin that the operator has not granted.
 *
 * @generated from message toolhost.v1.Ungranted
 */
export type Ungranted = Message<"toolhost.v1.Ungranted"> & {
    /**
     * The request, in English.
     *
     * @generated from field: string request = 1;
     */
    request: string;
    /**
     * The line of toolhost.yaml that grants it, such as `plugin.NAME.sandbox.network: true`.
     *
     * @generated from field: string grant = 2;
     */
    grant: string;
};
/**
 * Describes the message toolhost.v1.Ungranted.
 * Use `create(UngrantedSchema)` to create a new message.
 */
export declare const UngrantedSchema: GenMessage<Ungranted>;
/**
 * PluginRefusal says why toolhost does not use the executable that is in a plugin's folder.
 *
 * @generated from message toolhost.v1.PluginRefusal
 */
export type PluginRefusal = Message<"toolhost.v1.PluginRefusal"> & {
    /**
     * The digest of that executable. Empty if toolhost could not read it.
     *
     * @generated from field: string digest = 1;
     */
    digest: string;
    /**
     * The reason, in English.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
    /**
     * Whether the only known reason is that the lock file does not allow the executable.
     *
     * @generated from field: bool locked = 3;
     */
    locked: boolean;
    /**
     * The name that the executable declares. Empty if toolhost did not run it, which is usual for an
     * executable that the lock file does not allow.
     *
     * @generated from field: string name = 4;
     */
    name: string;
};
/**
 * Describes the message toolhost.v1.PluginRefusal.
 * Use `create(PluginRefusalSchema)` to create a new message.
 */
export declare const PluginRefusalSchema: GenMessage<PluginRefusal>;
/**
 * PluginExit describes how one process of a plugin ended.
 *
 * @generated from message toolhost.v1.PluginExit
 */
export type PluginExit = Message<"toolhost.v1.PluginExit"> & {
    /**
     * The id of the instance.
     *
     * @generated from field: string instance = 1;
     */
    instance: string;
    /**
     * When it ended.
     *
     * @generated from field: google.protobuf.Timestamp time = 2;
     */
    time?: Timestamp | undefined;
    /**
     * How it ended.
     *
     * @generated from field: toolhost.tool.v1.Exit exit = 3;
     */
    exit?: Exit | undefined;
    /**
     * Whether toolhost stopped it. False means a crash.
     *
     * @generated from field: bool expected = 4;
     */
    expected: boolean;
    /**
     * The calls that it was executing. At most 8.
     *
     * @generated from field: repeated toolhost.v1.ExitCall calls = 5;
     */
    calls: ExitCall[];
    /**
     * The tenant that it served. Empty if it has not served a call.
     *
     * @generated from field: string tenant = 6;
     */
    tenant: string;
    /**
     * The number of further calls that it was executing, which belong to tenants that the caller may
     * not see.
     *
     * @generated from field: uint32 hidden_calls = 7;
     */
    hiddenCalls: number;
    /**
     * Whether toolhost stopped it because calls of it did not stop when they were told to. Then
     * expected is true, and calls has those calls.
     *
     * @generated from field: bool unhealthy = 8;
     */
    unhealthy: boolean;
};
/**
 * Describes the message toolhost.v1.PluginExit.
 * Use `create(PluginExitSchema)` to create a new message.
 */
export declare const PluginExitSchema: GenMessage<PluginExit>;
/**
 * ExitCall is a call that was running when its process ended.
 *
 * @generated from message toolhost.v1.ExitCall
 */
export type ExitCall = Message<"toolhost.v1.ExitCall"> & {
    /**
     * The id of the call, chosen by the caller or generated by toolhost.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 2;
     */
    tool: string;
    /**
     * The session. Empty if the call has none.
     *
     * @generated from field: string session = 3;
     */
    session: string;
    /**
     * The principal that made the call, derived from the connection.
     *
     * @generated from field: string principal = 4;
     */
    principal: string;
    /**
     * When toolhost received the call. Unset for crashes that an earlier version recorded.
     *
     * @generated from field: google.protobuf.Timestamp start_time = 5;
     */
    startTime?: Timestamp | undefined;
    /**
     * The SHA-256 digest of the tool's name and the arguments, in hexadecimal. Two calls with the
     * same digest call the same tool with the same arguments. Empty if the arguments were incomplete.
     *
     * @generated from field: string arguments_digest = 6;
     */
    argumentsDigest: string;
};
/**
 * Describes the message toolhost.v1.ExitCall.
 * Use `create(ExitCallSchema)` to create a new message.
 */
export declare const ExitCallSchema: GenMessage<ExitCall>;
/**
 * Instance is one process of a plugin.
 *
 * @generated from message toolhost.v1.Instance
 */
export type Instance = Message<"toolhost.v1.Instance"> & {
    /**
     * The id: the name of the plugin, a dash, and a number that is unique while toolhost runs.
     *
     * @generated from field: string id = 1;
     */
    id: string;
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 2;
     */
    plugin: string;
    /**
     * The state.
     *
     * @generated from field: toolhost.v1.InstanceState state = 3;
     */
    state: InstanceState;
    /**
     * The process id. 0 before the process exists.
     *
     * @generated from field: int32 pid = 4;
     */
    pid: number;
    /**
     * The number of running calls.
     *
     * @generated from field: uint32 calls = 5;
     */
    calls: number;
    /**
     * The number of calls started since the process started.
     *
     * @generated from field: uint64 total_calls = 6;
     */
    totalCalls: bigint;
    /**
     * When the process was started.
     *
     * @generated from field: google.protobuf.Timestamp start_time = 7;
     */
    startTime?: Timestamp | undefined;
    /**
     * The resident memory in bytes, without child processes. 0 if unknown.
     *
     * @generated from field: uint64 rss_bytes = 8;
     */
    rssBytes: bigint;
    /**
     * The digest of the executable that it runs.
     *
     * @generated from field: string digest = 9;
     */
    digest: string;
    /**
     * The limits on the process and its descendants, and the mechanism that enforces each. Empty
     * means no limits.
     *
     * @generated from field: repeated toolhost.v1.EffectiveLimit limits = 10;
     */
    limits: EffectiveLimit[];
    /**
     * What the process may access. Unset before the process is started.
     *
     * @generated from field: toolhost.v1.Sandbox sandbox = 11;
     */
    sandbox?: Sandbox | undefined;
    /**
     * The tenant that it serves. Empty if it has not served a call yet.
     *
     * @generated from field: string tenant = 12;
     */
    tenant: string;
};
/**
 * Describes the message toolhost.v1.Instance.
 * Use `create(InstanceSchema)` to create a new message.
 */
export declare const InstanceSchema: GenMessage<Instance>;
/**
 * Sandbox says what a plugin process may access, in addition to system libraries, its executable
 * and its own temporary folder.
 *
 * @generated from message toolhost.v1.Sandbox
 */
export type Sandbox = Message<"toolhost.v1.Sandbox"> & {
    /**
     * The mode that the operator configured. `on`: the mechanisms that the machine supports.
     * `required`: all mechanisms, or the process does not start. `off`: none.
     *
     * @generated from field: string mode = 1;
     */
    mode: string;
    /**
     * Whether the process may use toolhost's network.
     *
     * @generated from field: bool network = 2;
     */
    network: boolean;
    /**
     * The access to the workspace.
     *
     * @generated from field: toolhost.tool.v1.Access workspace = 3;
     */
    workspace: Access;
    /**
     * Other files and folders that the process may read: the granted paths and the folder of its
     * interpreter.
     *
     * @generated from field: repeated string read = 4;
     */
    read: string[];
    /**
     * Other files and folders that the process may change.
     *
     * @generated from field: repeated string write = 5;
     */
    write: string[];
    /**
     * The mechanisms that restrict the process. Empty if the mode is `off`.
     *
     * @generated from field: repeated toolhost.v1.SandboxLayer layers = 6;
     */
    layers: SandboxLayer[];
    /**
     * Where the workspace is: `local` (a folder of toolhost's machine), `memory` or `remote`. Empty if
     * there is none. Later versions may add names.
     *
     * @generated from field: string workspace_backend = 7;
     */
    workspaceBackend: string;
};
/**
 * Describes the message toolhost.v1.Sandbox.
 * Use `create(SandboxSchema)` to create a new message.
 */
export declare const SandboxSchema: GenMessage<Sandbox>;
/**
 * SandboxLayer says whether one part of a sandbox is in effect on this machine.
 *
 * @generated from message toolhost.v1.SandboxLayer
 */
export type SandboxLayer = Message<"toolhost.v1.SandboxLayer"> & {
    /**
     * What the layer restricts: `files`, `landlock` (files, by a second mechanism), `network`, `pid`
     * (other processes), `ipc`, `privileges` or `syscalls`. Later versions may add names.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * Whether the layer is in effect.
     *
     * @generated from field: bool effective = 2;
     */
    effective: boolean;
    /**
     * The mechanism, in English. Empty if the layer is not in effect.
     *
     * @generated from field: string mechanism = 3;
     */
    mechanism: string;
    /**
     * Why the layer is not in effect, or what it does not restrict. May be empty.
     *
     * @generated from field: string note = 4;
     */
    note: string;
};
/**
 * Describes the message toolhost.v1.SandboxLayer.
 * Use `create(SandboxLayerSchema)` to create a new message.
 */
export declare const SandboxLayerSchema: GenMessage<SandboxLayer>;
/**
 * EffectiveLimit says how one limit on a plugin process is enforced on this machine.
 *
 * @generated from message toolhost.v1.EffectiveLimit
 */
export type EffectiveLimit = Message<"toolhost.v1.EffectiveLimit"> & {
    /**
     * The limited resource: `memory`, `cpu`, `processes`, `open_files`, `file_size` or
     * `pid_namespace`. Later versions may add names.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The configured value: bytes, cores or a count; for `pid_namespace`, `auto` or `required`.
     *
     * @generated from field: string value = 2;
     */
    value: string;
    /**
     * The mechanism that enforces the limit: `cgroup2`, `cgroup1`, `rlimit`, `watchdog`, `namespace`
     * or `none`. Later versions may add names.
     *
     * @generated from field: string mechanism = 3;
     */
    mechanism: string;
    /**
     * Why the limit is not enforced, or what the mechanism does not cover. May be empty.
     *
     * @generated from field: string note = 4;
     */
    note: string;
};
/**
 * Describes the message toolhost.v1.EffectiveLimit.
 * Use `create(EffectiveLimitSchema)` to create a new message.
 */
export declare const EffectiveLimitSchema: GenMessage<EffectiveLimit>;
/**
 * ListPluginsRequest requests all plugins.
 *
 * @generated from message toolhost.v1.ListPluginsRequest
 */
export type ListPluginsRequest = Message<"toolhost.v1.ListPluginsRequest"> & {
    /**
     * Whether to return conditions. toolhost reads its configuration file for them.
     *
     * @generated from field: bool conditions = 1;
     */
    conditions: boolean;
};
/**
 * Describes the message toolhost.v1.ListPluginsRequest.
 * Use `create(ListPluginsRequestSchema)` to create a new message.
 */
export declare const ListPluginsRequestSchema: GenMessage<ListPluginsRequest>;
/**
 * ListPluginsResponse returns all plugins.
 *
 * @generated from message toolhost.v1.ListPluginsResponse
 */
export type ListPluginsResponse = Message<"toolhost.v1.ListPluginsResponse"> & {
    /**
     * The plugins, ordered by name.
     *
     * @generated from field: repeated toolhost.v1.Plugin plugins = 1;
     */
    plugins: Plugin[];
    /**
     * What an operator should know about toolhost itself. Empty if there is nothing, if the request did
     * not ask, or if the caller does not have the right in all tenants.
     *
     * @generated from field: repeated toolhost.v1.Condition conditions = 2;
     */
    conditions: Condition[];
};
/**
 * Describes the message toolhost.v1.ListPluginsResponse.
 * Use `create(ListPluginsResponseSchema)` to create a new message.
 */
export declare const ListPluginsResponseSchema: GenMessage<ListPluginsResponse>;
/**
 * Condition is something that an operator should know about toolhost itself, and not about one
 * plugin.
 *
 * @generated from message toolhost.v1.Condition
 */
export type Condition = Message<"toolhost.v1.Condition"> & {
    /**
     * What it is: `ledger_full`, `audit_failing`, `log_dropped`, `export_failing`,
     * `configuration_refused` or `configuration_changed`. Later versions may add names.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The condition, in English.
     *
     * @generated from field: string message = 2;
     */
    message: string;
    /**
     * Whether calls fail or records are lost because of it, or the next start of toolhost would fail.
     * False means that it can wait.
     *
     * @generated from field: bool problem = 3;
     */
    problem: boolean;
};
/**
 * Describes the message toolhost.v1.Condition.
 * Use `create(ConditionSchema)` to create a new message.
 */
export declare const ConditionSchema: GenMessage<Condition>;
/**
 * ListInstancesRequest selects instances.
 *
 * @generated from message toolhost.v1.ListInstancesRequest
 */
export type ListInstancesRequest = Message<"toolhost.v1.ListInstancesRequest"> & {
    /**
     * The plugin whose instances to list. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
};
/**
 * Describes the message toolhost.v1.ListInstancesRequest.
 * Use `create(ListInstancesRequestSchema)` to create a new message.
 */
export declare const ListInstancesRequestSchema: GenMessage<ListInstancesRequest>;
/**
 * ListInstancesResponse returns instances.
 *
 * @generated from message toolhost.v1.ListInstancesResponse
 */
export type ListInstancesResponse = Message<"toolhost.v1.ListInstancesResponse"> & {
    /**
     * The instances, ordered by plugin and start time.
     *
     * @generated from field: repeated toolhost.v1.Instance instances = 1;
     */
    instances: Instance[];
};
/**
 * Describes the message toolhost.v1.ListInstancesResponse.
 * Use `create(ListInstancesResponseSchema)` to create a new message.
 */
export declare const ListInstancesResponseSchema: GenMessage<ListInstancesResponse>;
/**
 * RestartRequest names a plugin to restart.
 *
 * @generated from message toolhost.v1.RestartRequest
 */
export type RestartRequest = Message<"toolhost.v1.RestartRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Whether to stop the old processes at once, without waiting for their calls.
     *
     * @generated from field: bool force = 2;
     */
    force: boolean;
    /**
     * Why the caller wants this, in its own words, for the audit log and the events of the plugin. At
     * most 500 bytes. May be empty.
     *
     * @generated from field: string reason = 3;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.RestartRequest.
 * Use `create(RestartRequestSchema)` to create a new message.
 */
export declare const RestartRequestSchema: GenMessage<RestartRequest>;
/**
 * RestartResponse lists the affected instances.
 *
 * @generated from message toolhost.v1.RestartResponse
 */
export type RestartResponse = Message<"toolhost.v1.RestartResponse"> & {
    /**
     * The ids of the instances that toolhost is stopping.
     *
     * @generated from field: repeated string stopped = 1;
     */
    stopped: string[];
    /**
     * The ids of the instances that replace them.
     *
     * @generated from field: repeated string started = 2;
     */
    started: string[];
};
/**
 * Describes the message toolhost.v1.RestartResponse.
 * Use `create(RestartResponseSchema)` to create a new message.
 */
export declare const RestartResponseSchema: GenMessage<RestartResponse>;
/**
 * DrainRequest names a plugin to drain.
 *
 * @generated from message toolhost.v1.DrainRequest
 */
export type DrainRequest = Message<"toolhost.v1.DrainRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Why the caller wants this, in its own words, for the audit log and the events of the plugin. At
     * most 500 bytes. May be empty.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.DrainRequest.
 * Use `create(DrainRequestSchema)` to create a new message.
 */
export declare const DrainRequestSchema: GenMessage<DrainRequest>;
/**
 * DrainResponse confirms that the processes have ended.
 *
 * @generated from message toolhost.v1.DrainResponse
 */
export type DrainResponse = Message<"toolhost.v1.DrainResponse"> & {};
/**
 * Describes the message toolhost.v1.DrainResponse.
 * Use `create(DrainResponseSchema)` to create a new message.
 */
export declare const DrainResponseSchema: GenMessage<DrainResponse>;
/**
 * PauseRequest names a plugin to pause.
 *
 * @generated from message toolhost.v1.PauseRequest
 */
export type PauseRequest = Message<"toolhost.v1.PauseRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Why the caller wants this, in its own words, for the audit log and the events of the plugin. At
     * most 500 bytes. May be empty.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.PauseRequest.
 * Use `create(PauseRequestSchema)` to create a new message.
 */
export declare const PauseRequestSchema: GenMessage<PauseRequest>;
/**
 * PauseResponse confirms the pause.
 *
 * @generated from message toolhost.v1.PauseResponse
 */
export type PauseResponse = Message<"toolhost.v1.PauseResponse"> & {};
/**
 * Describes the message toolhost.v1.PauseResponse.
 * Use `create(PauseResponseSchema)` to create a new message.
 */
export declare const PauseResponseSchema: GenMessage<PauseResponse>;
/**
 * ResumeRequest names a plugin to resume.
 *
 * @generated from message toolhost.v1.ResumeRequest
 */
export type ResumeRequest = Message<"toolhost.v1.ResumeRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
};
/**
 * Describes the message toolhost.v1.ResumeRequest.
 * Use `create(ResumeRequestSchema)` to create a new message.
 */
export declare const ResumeRequestSchema: GenMessage<ResumeRequest>;
/**
 * ResumeResponse confirms that the plugin accepts calls.
 *
 * @generated from message toolhost.v1.ResumeResponse
 */
export type ResumeResponse = Message<"toolhost.v1.ResumeResponse"> & {};
/**
 * Describes the message toolhost.v1.ResumeResponse.
 * Use `create(ResumeResponseSchema)` to create a new message.
 */
export declare const ResumeResponseSchema: GenMessage<ResumeResponse>;
/**
 * ClearQuarantineRequest names a plugin.
 *
 * @generated from message toolhost.v1.ClearQuarantineRequest
 */
export type ClearQuarantineRequest = Message<"toolhost.v1.ClearQuarantineRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
};
/**
 * Describes the message toolhost.v1.ClearQuarantineRequest.
 * Use `create(ClearQuarantineRequestSchema)` to create a new message.
 */
export declare const ClearQuarantineRequestSchema: GenMessage<ClearQuarantineRequest>;
/**
 * ClearQuarantineResponse confirms the end of the quarantine or backoff.
 *
 * @generated from message toolhost.v1.ClearQuarantineResponse
 */
export type ClearQuarantineResponse = Message<"toolhost.v1.ClearQuarantineResponse"> & {};
/**
 * Describes the message toolhost.v1.ClearQuarantineResponse.
 * Use `create(ClearQuarantineResponseSchema)` to create a new message.
 */
export declare const ClearQuarantineResponseSchema: GenMessage<ClearQuarantineResponse>;
/**
 * ReloadRequest requests a scan of the plugin folders.
 *
 * @generated from message toolhost.v1.ReloadRequest
 */
export type ReloadRequest = Message<"toolhost.v1.ReloadRequest"> & {
    /**
     * Leave out the configuration file. A program that adds a plugin uses this, because the operator
     * may be editing the file.
     *
     * @generated from field: bool plugins_only = 1;
     */
    pluginsOnly: boolean;
};
/**
 * Describes the message toolhost.v1.ReloadRequest.
 * Use `create(ReloadRequestSchema)` to create a new message.
 */
export declare const ReloadRequestSchema: GenMessage<ReloadRequest>;
/**
 * ReloadResponse says what changed. A plugin is in at most one of the lists.
 *
 * @generated from message toolhost.v1.ReloadResponse
 */
export type ReloadResponse = Message<"toolhost.v1.ReloadResponse"> & {
    /**
     * The names of new plugins.
     *
     * @generated from field: repeated string added = 1;
     */
    added: string[];
    /**
     * The names of plugins whose files are gone.
     *
     * @generated from field: repeated string removed = 2;
     */
    removed: string[];
    /**
     * The names of plugins that now run another executable.
     *
     * @generated from field: repeated string upgraded = 3;
     */
    upgraded: string[];
    /**
     * The changes that failed. toolhost continues to use the previous executable of these plugins,
     * except for a plugin that does not start with the changed configuration: it takes no calls.
     *
     * @generated from field: repeated toolhost.v1.ReloadFailure failures = 4;
     */
    failures: ReloadFailure[];
    /**
     * What the configuration file changed. Unset if the file says what is in effect already, and with
     * `plugins_only`.
     *
     * @generated from field: toolhost.v1.ConfigurationChange configuration = 5;
     */
    configuration?: ConfigurationChange | undefined;
};
/**
 * Describes the message toolhost.v1.ReloadResponse.
 * Use `create(ReloadResponseSchema)` to create a new message.
 */
export declare const ReloadResponseSchema: GenMessage<ReloadResponse>;
/**
 * ConfigurationChange says how the configuration file differs from the configuration in effect.
 *
 * @generated from message toolhost.v1.ConfigurationChange
 */
export type ConfigurationChange = Message<"toolhost.v1.ConfigurationChange"> & {
    /**
     * The path of the file that toolhost started with. Empty if it started without one.
     *
     * @generated from field: string file = 1;
     */
    file: string;
    /**
     * The top-level keys whose values differ, ordered by name. Empty if `problem` is set.
     *
     * @generated from field: repeated string keys = 2;
     */
    keys: string[];
    /**
     * Why toolhost would refuse to start with the current file, in English: the file is not trusted,
     * does not exist, or has errors, each with its line and column. toolhost then applies no part of
     * it. Empty if toolhost would start.
     *
     * @generated from field: string problem = 3;
     */
    problem: string;
    /**
     * The settings whose values differ, in the order of the reference. Empty if `problem` is set.
     *
     * @generated from field: repeated toolhost.v1.SettingChange changes = 4;
     */
    changes: SettingChange[];
};
/**
 * Describes the message toolhost.v1.ConfigurationChange.
 * Use `create(ConfigurationChangeSchema)` to create a new message.
 */
export declare const ConfigurationChangeSchema: GenMessage<ConfigurationChange>;
/**
 * SettingChange is one setting of the configuration file with its values. Values that may be secret
 * are replaced by "(hidden)".
 *
 * @generated from message toolhost.v1.SettingChange
 */
export type SettingChange = Message<"toolhost.v1.SettingChange"> & {
    /**
     * The key with its parents, such as `plugin.files.idle_timeout`. An element of a list of rules or
     * filters has its name in brackets, such as `policy.rules[no-mail].then`.
     *
     * @generated from field: string key = 1;
     */
    key: string;
    /**
     * The value in effect. Empty if the setting has no value.
     *
     * @generated from field: string old = 2;
     */
    old: string;
    /**
     * The value in the file. Empty if the setting has no value.
     *
     * @generated from field: string new = 3;
     */
    new: string;
    /**
     * Reload does not apply the change; the next start of toolhost does.
     *
     * @generated from field: bool restart = 4;
     */
    restart: boolean;
};
/**
 * Describes the message toolhost.v1.SettingChange.
 * Use `create(SettingChangeSchema)` to create a new message.
 */
export declare const SettingChangeSchema: GenMessage<SettingChange>;
/**
 * DiffConfigurationRequest has no options.
 *
 * @generated from message toolhost.v1.DiffConfigurationRequest
 */
export type DiffConfigurationRequest = Message<"toolhost.v1.DiffConfigurationRequest"> & {};
/**
 * Describes the message toolhost.v1.DiffConfigurationRequest.
 * Use `create(DiffConfigurationRequestSchema)` to create a new message.
 */
export declare const DiffConfigurationRequestSchema: GenMessage<DiffConfigurationRequest>;
/**
 * DiffConfigurationResponse says what a Reload would do.
 *
 * @generated from message toolhost.v1.DiffConfigurationResponse
 */
export type DiffConfigurationResponse = Message<"toolhost.v1.DiffConfigurationResponse"> & {
    /**
     * Without changes and without a problem if the file says what is in effect.
     *
     * @generated from field: toolhost.v1.ConfigurationChange configuration = 1;
     */
    configuration?: ConfigurationChange | undefined;
};
/**
 * Describes the message toolhost.v1.DiffConfigurationResponse.
 * Use `create(DiffConfigurationResponseSchema)` to create a new message.
 */
export declare const DiffConfigurationResponseSchema: GenMessage<DiffConfigurationResponse>;
/**
 * ReloadFailure describes a plugin change that failed.
 *
 * @generated from message toolhost.v1.ReloadFailure
 */
export type ReloadFailure = Message<"toolhost.v1.ReloadFailure"> & {
    /**
     * The name of the plugin. The name of the file if toolhost could not call Describe.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The reason, in English.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.ReloadFailure.
 * Use `create(ReloadFailureSchema)` to create a new message.
 */
export declare const ReloadFailureSchema: GenMessage<ReloadFailure>;
/**
 * UpgradeRequest names a plugin to upgrade.
 *
 * @generated from message toolhost.v1.UpgradeRequest
 */
export type UpgradeRequest = Message<"toolhost.v1.UpgradeRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Why the caller wants this, in its own words, for the audit log and ListRevisions. At most 500 bytes. May be empty.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.UpgradeRequest.
 * Use `create(UpgradeRequestSchema)` to create a new message.
 */
export declare const UpgradeRequestSchema: GenMessage<UpgradeRequest>;
/**
 * UpgradeResponse says which executable is in use.
 *
 * @generated from message toolhost.v1.UpgradeResponse
 */
export type UpgradeResponse = Message<"toolhost.v1.UpgradeResponse"> & {
    /**
     * The digest of the executable in use.
     *
     * @generated from field: string digest = 1;
     */
    digest: string;
    /**
     * The digest of the executable before the upgrade. The same as `digest` if nothing changed.
     *
     * @generated from field: string previous_digest = 2;
     */
    previousDigest: string;
};
/**
 * Describes the message toolhost.v1.UpgradeResponse.
 * Use `create(UpgradeResponseSchema)` to create a new message.
 */
export declare const UpgradeResponseSchema: GenMessage<UpgradeResponse>;
/**
 * GetLockFileRequest requests information about the lock file.
 *
 * @generated from message toolhost.v1.GetLockFileRequest
 */
export type GetLockFileRequest = Message<"toolhost.v1.GetLockFileRequest"> & {};
/**
 * Describes the message toolhost.v1.GetLockFileRequest.
 * Use `create(GetLockFileRequestSchema)` to create a new message.
 */
export declare const GetLockFileRequestSchema: GenMessage<GetLockFileRequest>;
/**
 * GetLockFileResponse describes the lock file.
 *
 * @generated from message toolhost.v1.GetLockFileResponse
 */
export type GetLockFileResponse = Message<"toolhost.v1.GetLockFileResponse"> & {
    /**
     * The absolute path on toolhost's machine. The file may not exist if it is not enforced.
     *
     * @generated from field: string path = 1;
     */
    path: string;
    /**
     * Whether toolhost runs only the executables that the file pins.
     *
     * @generated from field: bool enforced = 2;
     */
    enforced: boolean;
};
/**
 * Describes the message toolhost.v1.GetLockFileResponse.
 * Use `create(GetLockFileResponseSchema)` to create a new message.
 */
export declare const GetLockFileResponseSchema: GenMessage<GetLockFileResponse>;
/**
 * RollbackRequest names a plugin to roll back.
 *
 * @generated from message toolhost.v1.RollbackRequest
 */
export type RollbackRequest = Message<"toolhost.v1.RollbackRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The number of the revision whose executable to switch to, of ListRevisions. 0 means the previous
     * executable.
     *
     * @generated from field: uint64 revision = 2;
     */
    revision: bigint;
    /**
     * Why the caller wants this, in its own words, for the audit log and ListRevisions. At most 500 bytes. May be empty.
     *
     * @generated from field: string reason = 3;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.RollbackRequest.
 * Use `create(RollbackRequestSchema)` to create a new message.
 */
export declare const RollbackRequestSchema: GenMessage<RollbackRequest>;
/**
 * RollbackResponse says which executable is in use.
 *
 * @generated from message toolhost.v1.RollbackResponse
 */
export type RollbackResponse = Message<"toolhost.v1.RollbackResponse"> & {
    /**
     * The digest of the executable in use.
     *
     * @generated from field: string digest = 1;
     */
    digest: string;
    /**
     * The digest of the executable before the rollback.
     *
     * @generated from field: string previous_digest = 2;
     */
    previousDigest: string;
};
/**
 * Describes the message toolhost.v1.RollbackResponse.
 * Use `create(RollbackResponseSchema)` to create a new message.
 */
export declare const RollbackResponseSchema: GenMessage<RollbackResponse>;
/**
 * ListRevisionsRequest names a plugin.
 *
 * @generated from message toolhost.v1.ListRevisionsRequest
 */
export type ListRevisionsRequest = Message<"toolhost.v1.ListRevisionsRequest"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
};
/**
 * Describes the message toolhost.v1.ListRevisionsRequest.
 * Use `create(ListRevisionsRequestSchema)` to create a new message.
 */
export declare const ListRevisionsRequestSchema: GenMessage<ListRevisionsRequest>;
/**
 * ListRevisionsResponse returns the revisions of a plugin.
 *
 * @generated from message toolhost.v1.ListRevisionsResponse
 */
export type ListRevisionsResponse = Message<"toolhost.v1.ListRevisionsResponse"> & {
    /**
     * The revisions, newest first.
     *
     * @generated from field: repeated toolhost.v1.Revision revisions = 1;
     */
    revisions: Revision[];
};
/**
 * Describes the message toolhost.v1.ListRevisionsResponse.
 * Use `create(ListRevisionsResponseSchema)` to create a new message.
 */
export declare const ListRevisionsResponseSchema: GenMessage<ListRevisionsResponse>;
/**
 * Revision is one time at which an executable of a plugin came into service.
 *
 * @generated from message toolhost.v1.Revision
 */
export type Revision = Message<"toolhost.v1.Revision"> & {
    /**
     * The number among the revisions of the plugin, from 1, without gaps. An executable that comes into
     * service again gets another number.
     *
     * @generated from field: uint64 number = 1;
     */
    number: bigint;
    /**
     * The digest of the executable.
     *
     * @generated from field: string digest = 2;
     */
    digest: string;
    /**
     * When it came into service. Unset if a version of toolhost without revisions recorded it.
     *
     * @generated from field: google.protobuf.Timestamp time = 3;
     */
    time?: Timestamp | undefined;
    /**
     * What brought it into service: `added`, `changed` (the file in the plugin's folder), `upgrade`,
     * `rollback` or `locked` (a change of the lock file). Later versions may add causes. Empty if a
     * version of toolhost without revisions recorded it.
     *
     * @generated from field: string cause = 4;
     */
    cause: string;
    /**
     * The principal that requested it. Empty if toolhost did it by itself.
     *
     * @generated from field: string principal = 5;
     */
    principal: string;
    /**
     * The reason that the principal gave. May be empty.
     *
     * @generated from field: string reason = 6;
     */
    reason: string;
    /**
     * Whether it is in service.
     *
     * @generated from field: bool current = 7;
     */
    current: boolean;
    /**
     * Whether Rollback can switch to it. False also for the current one.
     *
     * @generated from field: bool kept = 8;
     */
    kept: boolean;
};
/**
 * Describes the message toolhost.v1.Revision.
 * Use `create(RevisionSchema)` to create a new message.
 */
export declare const RevisionSchema: GenMessage<Revision>;
/**
 * WatchEventsRequest selects events.
 *
 * @generated from message toolhost.v1.WatchEventsRequest
 */
export type WatchEventsRequest = Message<"toolhost.v1.WatchEventsRequest"> & {
    /**
     * The plugin whose events to return. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The `seq` of the last event that the caller has seen. The stream continues after that event. 0
     * means the oldest stored event. toolhost counts from 1 each time it starts. If this toolhost
     * process has not assigned the number yet, the number comes from an earlier process, and the
     * stream starts at the oldest stored event. A caller detects that because `seq` decreases.
     *
     * @generated from field: uint64 after_seq = 2;
     */
    afterSeq: bigint;
    /**
     * Whether to continue with new events after the stored ones.
     *
     * @generated from field: bool follow = 3;
     */
    follow: boolean;
    /**
     * Only events at or after this time. Unset means all.
     *
     * @generated from field: google.protobuf.Timestamp since_time = 4;
     */
    sinceTime?: Timestamp | undefined;
    /**
     * Only events of these tenants, and those that concern no tenant. Empty means all tenants in which
     * the caller has the right to read events.
     *
     * @generated from field: repeated string tenants = 5;
     */
    tenants: string[];
};
/**
 * Describes the message toolhost.v1.WatchEventsRequest.
 * Use `create(WatchEventsRequestSchema)` to create a new message.
 */
export declare const WatchEventsRequestSchema: GenMessage<WatchEventsRequest>;
/**
 * WatchEventsResponse returns one event.
 *
 * @generated from message toolhost.v1.WatchEventsResponse
 */
export type WatchEventsResponse = Message<"toolhost.v1.WatchEventsResponse"> & {
    /**
     * The event.
     *
     * @generated from field: toolhost.v1.PluginEvent event = 1;
     */
    event?: PluginEvent | undefined;
};
/**
 * Describes the message toolhost.v1.WatchEventsResponse.
 * Use `create(WatchEventsResponseSchema)` to create a new message.
 */
export declare const WatchEventsResponseSchema: GenMessage<WatchEventsResponse>;
/**
 * PluginEvent is an event of a plugin or of one of its processes.
 *
 * @generated from message toolhost.v1.PluginEvent
 */
export type PluginEvent = Message<"toolhost.v1.PluginEvent"> & {
    /**
     * The sequence number among the events of all plugins, from 1, without gaps.
     *
     * @generated from field: uint64 seq = 1;
     */
    seq: bigint;
    /**
     * When the event occurred.
     *
     * @generated from field: google.protobuf.Timestamp time = 2;
     */
    time?: Timestamp | undefined;
    /**
     * The type: `instance_launching`, `instance_ready`, `instance_unhealthy`, `instance_draining`,
     * `instance_stopping`, `instance_exited`, `instance_crashed`, `launch_failed`, `launch_refused`,
     * `plugin_backing_off`, `plugin_quarantined`, `calls_refused`, `call_settled`, `plugin_probing`, `plugin_enabled`,
     * `plugin_paused`, `plugin_disabled`, `plugin_added`, `plugin_removed`, `plugin_unusable`,
     * `upgrade_started`, `upgrade_finished`, `upgrade_failed`, `rollback_started`,
     * `rollback_finished`, `rollback_failed`, `restart_started`, `restart_finished` or
     * `restart_failed`. Later versions may add types.
     *
     * @generated from field: string type = 3;
     */
    type: string;
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 4;
     */
    plugin: string;
    /**
     * The id of the instance. Empty if the event concerns the whole plugin.
     *
     * @generated from field: string instance = 5;
     */
    instance: string;
    /**
     * The digest of the executable that the event concerns. May be empty.
     *
     * @generated from field: string digest = 6;
     */
    digest: string;
    /**
     * The reason, in English. May be empty.
     *
     * @generated from field: string reason = 7;
     */
    reason: string;
    /**
     * When a backoff ends, or when toolhost probes a quarantined plugin. Unset for other types.
     *
     * @generated from field: google.protobuf.Timestamp until_time = 8;
     */
    untilTime?: Timestamp | undefined;
    /**
     * The tenant of the instance, or of the calls that caused the event. Empty if the event concerns
     * no tenant in particular.
     *
     * @generated from field: string tenant = 9;
     */
    tenant: string;
};
/**
 * Describes the message toolhost.v1.PluginEvent.
 * Use `create(PluginEventSchema)` to create a new message.
 */
export declare const PluginEventSchema: GenMessage<PluginEvent>;
/**
 * TailLogsRequest selects log lines.
 *
 * @generated from message toolhost.v1.TailLogsRequest
 */
export type TailLogsRequest = Message<"toolhost.v1.TailLogsRequest"> & {
    /**
     * The plugin whose lines to return. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The call whose lines to return. Empty means all lines.
     *
     * @generated from field: string call_id = 2;
     */
    callId: string;
    /**
     * The maximum number of stored lines, counted from the newest. 0 means all.
     *
     * @generated from field: uint32 last = 3;
     */
    last: number;
    /**
     * Whether to continue with new lines after the stored ones.
     *
     * @generated from field: bool follow = 4;
     */
    follow: boolean;
    /**
     * Only lines of these tenants, and those that concern no tenant. Empty means all tenants in which
     * the caller has the right to read logs.
     *
     * @generated from field: repeated string tenants = 5;
     */
    tenants: string[];
};
/**
 * Describes the message toolhost.v1.TailLogsRequest.
 * Use `create(TailLogsRequestSchema)` to create a new message.
 */
export declare const TailLogsRequestSchema: GenMessage<TailLogsRequest>;
/**
 * TailLogsResponse returns one log line.
 *
 * @generated from message toolhost.v1.TailLogsResponse
 */
export type TailLogsResponse = Message<"toolhost.v1.TailLogsResponse"> & {
    /**
     * The line.
     *
     * @generated from field: toolhost.v1.LogLine line = 1;
     */
    line?: LogLine | undefined;
};
/**
 * Describes the message toolhost.v1.TailLogsResponse.
 * Use `create(TailLogsResponseSchema)` to create a new message.
 */
export declare const TailLogsResponseSchema: GenMessage<TailLogsResponse>;
/**
 * LogLine is a line that a plugin wrote.
 *
 * @generated from message toolhost.v1.LogLine
 */
export type LogLine = Message<"toolhost.v1.LogLine"> & {
    /**
     * The sequence number among the lines of all plugins, from 1. A gap means that toolhost dropped
     * lines.
     *
     * @generated from field: uint64 seq = 1;
     */
    seq: bigint;
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 2;
     */
    plugin: string;
    /**
     * The id of the instance.
     *
     * @generated from field: string instance = 3;
     */
    instance: string;
    /**
     * The id of the call that wrote the line. Empty if the line belongs to no call.
     *
     * @generated from field: string call_id = 4;
     */
    callId: string;
    /**
     * The content of the line.
     *
     * @generated from field: toolhost.tool.v1.LogRecord record = 5;
     */
    record?: LogRecord | undefined;
    /**
     * The tenant of the call or the instance. Empty if the line concerns no tenant.
     *
     * @generated from field: string tenant = 6;
     */
    tenant: string;
};
/**
 * Describes the message toolhost.v1.LogLine.
 * Use `create(LogLineSchema)` to create a new message.
 */
export declare const LogLineSchema: GenMessage<LogLine>;
/**
 * ListCallsRequest selects calls. A call is selected if it matches every field that is set.
 *
 * @generated from message toolhost.v1.ListCallsRequest
 */
export type ListCallsRequest = Message<"toolhost.v1.ListCallsRequest"> & {
    /**
     * The maximum number of calls in the page. 0 means 100. Values over 1000 mean 1000.
     *
     * @generated from field: int32 page_size = 1;
     */
    pageSize: number;
    /**
     * The `next_page_token` of the previous page. Empty means the first page.
     *
     * @generated from field: string page_token = 2;
     */
    pageToken: string;
    /**
     * Matches calls of this plugin. Empty means all.
     *
     * @generated from field: string plugin = 3;
     */
    plugin: string;
    /**
     * Matches calls of this tool. Empty means all.
     *
     * @generated from field: string tool = 4;
     */
    tool: string;
    /**
     * Matches calls of this session. Empty means all.
     *
     * @generated from field: string session = 5;
     */
    session: string;
    /**
     * Matches calls in this state. UNSPECIFIED means all.
     *
     * @generated from field: toolhost.v1.CallState state = 6;
     */
    state: CallState;
    /**
     * Matches calls with this id. Empty means all.
     *
     * @generated from field: string call_id = 7;
     */
    callId: string;
    /**
     * Matches calls that toolhost received at or after this time. Unset means all.
     *
     * @generated from field: google.protobuf.Timestamp since_time = 8;
     */
    sinceTime?: Timestamp | undefined;
    /**
     * Matches calls of these tenants. Empty means all tenants in which the caller has the right to
     * list calls.
     *
     * @generated from field: repeated string tenants = 9;
     */
    tenants: string[];
};
/**
 * Describes the message toolhost.v1.ListCallsRequest.
 * Use `create(ListCallsRequestSchema)` to create a new message.
 */
export declare const ListCallsRequestSchema: GenMessage<ListCallsRequest>;
/**
 * ListCallsResponse is one page of calls.
 *
 * @generated from message toolhost.v1.ListCallsResponse
 */
export type ListCallsResponse = Message<"toolhost.v1.ListCallsResponse"> & {
    /**
     * The calls, newest first.
     *
     * @generated from field: repeated toolhost.v1.CallRecord calls = 1;
     */
    calls: CallRecord[];
    /**
     * The token of the next page. Empty means that this is the last page.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
};
/**
 * Describes the message toolhost.v1.ListCallsResponse.
 * Use `create(ListCallsResponseSchema)` to create a new message.
 */
export declare const ListCallsResponseSchema: GenMessage<ListCallsResponse>;
/**
 * CallRecord is the ledger's record of a call.
 *
 * @generated from message toolhost.v1.CallRecord
 */
export type CallRecord = Message<"toolhost.v1.CallRecord"> & {
    /**
     * The id of the call.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The principal that made the call.
     *
     * @generated from field: string principal = 2;
     */
    principal: string;
    /**
     * The session. Empty means the principal's default session.
     *
     * @generated from field: string session = 3;
     */
    session: string;
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 4;
     */
    tool: string;
    /**
     * The name of the plugin that contains the tool.
     *
     * @generated from field: string plugin = 5;
     */
    plugin: string;
    /**
     * The id of the instance that executes the call, or executed it last. Empty if none has.
     *
     * @generated from field: string instance = 6;
     */
    instance: string;
    /**
     * The state.
     *
     * @generated from field: toolhost.v1.CallState state = 7;
     */
    state: CallState;
    /**
     * The infrastructure failure. Set only if the state is FAILED.
     *
     * @generated from field: toolhost.tool.v1.Error error = 8;
     */
    error?: Error | undefined;
    /**
     * When toolhost received the call.
     *
     * @generated from field: google.protobuf.Timestamp start_time = 9;
     */
    startTime?: Timestamp | undefined;
    /**
     * When the call ended. Unset while it is running.
     *
     * @generated from field: google.protobuf.Timestamp end_time = 10;
     */
    endTime?: Timestamp | undefined;
    /**
     * What the tool said about an execution of the call with an unknown outcome. Unset if the tool was not
     * asked.
     *
     * @generated from field: toolhost.v1.Settled settled = 11;
     */
    settled?: Settled | undefined;
    /**
     * The machine of the toolhost that had the call, if it is in the history of another one that shares
     * the ledger. Empty means that it is in the ledger, or of the toolhost that answers.
     *
     * @generated from field: string node = 12;
     */
    node: string;
};
/**
 * Describes the message toolhost.v1.CallRecord.
 * Use `create(CallRecordSchema)` to create a new message.
 */
export declare const CallRecordSchema: GenMessage<CallRecord>;
/**
 * GetStatsRequest selects statistics.
 *
 * @generated from message toolhost.v1.GetStatsRequest
 */
export type GetStatsRequest = Message<"toolhost.v1.GetStatsRequest"> & {
    /**
     * The plugin whose tools to return. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Only calls that ended after this time. toolhost stores statistics by hour, so it counts from
     * the beginning of the hour (UTC) that contains this time. The response includes calls from
     * before the last start of toolhost. Unset means all calls since toolhost started.
     *
     * @generated from field: google.protobuf.Timestamp since_time = 2;
     */
    sinceTime?: Timestamp | undefined;
    /**
     * Only calls of these tenants. Empty means all tenants in which the caller has the right to read
     * statistics.
     *
     * @generated from field: repeated string tenants = 3;
     */
    tenants: string[];
    /**
     * Only calls of this toolhost. Otherwise statistics since a time include the calls of all
     * toolhosts that share its ledger.
     *
     * @generated from field: bool own = 4;
     */
    own: boolean;
};
/**
 * Describes the message toolhost.v1.GetStatsRequest.
 * Use `create(GetStatsRequestSchema)` to create a new message.
 */
export declare const GetStatsRequestSchema: GenMessage<GetStatsRequest>;
/**
 * GetStatsResponse returns statistics.
 *
 * @generated from message toolhost.v1.GetStatsResponse
 */
export type GetStatsResponse = Message<"toolhost.v1.GetStatsResponse"> & {
    /**
     * The statistics of all tools that were called, ordered by tool.
     *
     * @generated from field: repeated toolhost.v1.ToolStats tools = 1;
     */
    tools: ToolStats[];
};
/**
 * Describes the message toolhost.v1.GetStatsResponse.
 * Use `create(GetStatsResponseSchema)` to create a new message.
 */
export declare const GetStatsResponseSchema: GenMessage<GetStatsResponse>;
/**
 * ToolStats counts the ended calls of one tool.
 *
 * @generated from message toolhost.v1.ToolStats
 */
export type ToolStats = Message<"toolhost.v1.ToolStats"> & {
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 1;
     */
    tool: string;
    /**
     * The name of the plugin that contains the tool.
     *
     * @generated from field: string plugin = 2;
     */
    plugin: string;
    /**
     * The number of calls: the sum of `succeeded`, `tool_errors`, `needs_approval` and all `failures`.
     *
     * @generated from field: uint64 calls = 3;
     */
    calls: bigint;
    /**
     * The number of calls with a result without `is_error`.
     *
     * @generated from field: uint64 succeeded = 4;
     */
    succeeded: bigint;
    /**
     * The number of calls with a result with `is_error`.
     *
     * @generated from field: uint64 tool_errors = 5;
     */
    toolErrors: bigint;
    /**
     * The number of calls with an infrastructure failure, by kind, such as `timeout`.
     *
     * @generated from field: map<string, uint64> failures = 6;
     */
    failures: {
        [key: string]: bigint;
    };
    /**
     * The total duration of the calls that ran.
     *
     * @generated from field: google.protobuf.Duration total_duration = 7;
     */
    totalDuration?: Duration | undefined;
    /**
     * The mean duration of the calls that ran. Unset if none ran.
     *
     * @generated from field: google.protobuf.Duration mean_duration = 8;
     */
    meanDuration?: Duration | undefined;
    /**
     * The median duration, within 5 percent.
     *
     * @generated from field: google.protobuf.Duration p50_duration = 9;
     */
    p50Duration?: Duration | undefined;
    /**
     * The 99th percentile of the duration, within 5 percent.
     *
     * @generated from field: google.protobuf.Duration p99_duration = 10;
     */
    p99Duration?: Duration | undefined;
    /**
     * The total cost, in the unit of ToolSpec.cost_per_use. Replayed outcomes are not counted again.
     *
     * @generated from field: double total_cost = 11;
     */
    totalCost: number;
    /**
     * The number of calls that were not executed, because a person has to approve them first.
     *
     * @generated from field: uint64 needs_approval = 12;
     */
    needsApproval: bigint;
};
/**
 * Describes the message toolhost.v1.ToolStats.
 * Use `create(ToolStatsSchema)` to create a new message.
 */
export declare const ToolStatsSchema: GenMessage<ToolStats>;
/**
 * ReadAuditRequest selects lines of the audit log. A line has to match every field that is set.
 *
 * @generated from message toolhost.v1.ReadAuditRequest
 */
export type ReadAuditRequest = Message<"toolhost.v1.ReadAuditRequest"> & {
    /**
     * The key of the principal that the line concerns, or of its delegate. Empty means any.
     *
     * @generated from field: string principal = 1;
     */
    principal: string;
    /**
     * The call id. Empty means any.
     *
     * @generated from field: string call_id = 2;
     */
    callId: string;
    /**
     * The tool. Empty means any.
     *
     * @generated from field: string tool = 3;
     */
    tool: string;
    /**
     * The kind of the line, such as `call` or `authentication`. Empty means any.
     *
     * @generated from field: string kind = 4;
     */
    kind: string;
    /**
     * The decision, such as `denied`. Empty means any.
     *
     * @generated from field: string decision = 5;
     */
    decision: string;
    /**
     * Only lines at or after this time. Unset means all.
     *
     * @generated from field: google.protobuf.Timestamp since_time = 6;
     */
    sinceTime?: Timestamp | undefined;
    /**
     * Only lines before this time. Unset means all.
     *
     * @generated from field: google.protobuf.Timestamp until_time = 7;
     */
    untilTime?: Timestamp | undefined;
    /**
     * Only lines of these tenants. Empty means all tenants in which the caller has the right to read
     * the audit log.
     *
     * @generated from field: repeated string tenants = 8;
     */
    tenants: string[];
    /**
     * The maximum number of matching lines, counted from the newest. 0 means all.
     *
     * @generated from field: uint32 last = 9;
     */
    last: number;
    /**
     * Whether to continue with new lines.
     *
     * @generated from field: bool follow = 10;
     */
    follow: boolean;
    /**
     * The key of the principal that approved. Empty means any.
     *
     * @generated from field: string approver = 11;
     */
    approver: string;
};
/**
 * Describes the message toolhost.v1.ReadAuditRequest.
 * Use `create(ReadAuditRequestSchema)` to create a new message.
 */
export declare const ReadAuditRequestSchema: GenMessage<ReadAuditRequest>;
/**
 * ReadAuditResponse contains a line of the audit log.
 *
 * @generated from message toolhost.v1.ReadAuditResponse
 */
export type ReadAuditResponse = Message<"toolhost.v1.ReadAuditResponse"> & {
    /**
     * The number of the line.
     *
     * @generated from field: uint64 seq = 1;
     */
    seq: bigint;
    /**
     * The line: a JSON object. docs/audit.md describes its keys.
     *
     * @generated from field: string line = 2;
     */
    line: string;
};
/**
 * Describes the message toolhost.v1.ReadAuditResponse.
 * Use `create(ReadAuditResponseSchema)` to create a new message.
 */
export declare const ReadAuditResponseSchema: GenMessage<ReadAuditResponse>;
/**
 * PluginState says whether a plugin accepts calls, and why not.
 *
 * @generated from enum toolhost.v1.PluginState
 */
export declare enum PluginState {
    /**
     * Not set.
     *
     * @generated from enum value: PLUGIN_STATE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The plugin accepts calls.
     *
     * @generated from enum value: PLUGIN_STATE_ENABLED = 1;
     */
    ENABLED = 1,
    /**
     * An operator paused the plugin. It accepts no calls until Resume.
     *
     * @generated from enum value: PLUGIN_STATE_PAUSED = 2;
     */
    PAUSED = 2,
    /**
     * The plugin crashed. It accepts no calls until the backoff ends.
     *
     * @generated from enum value: PLUGIN_STATE_BACKING_OFF = 3;
     */
    BACKING_OFF = 3,
    /**
     * The plugin crashed too often. It accepts no calls until toolhost probes it successfully or an
     * operator calls ClearQuarantine.
     *
     * @generated from enum value: PLUGIN_STATE_QUARANTINED = 4;
     */
    QUARANTINED = 4,
    /**
     * The operator's configuration disables the plugin.
     *
     * @generated from enum value: PLUGIN_STATE_DISABLED = 5;
     */
    DISABLED = 5,
    /**
     * The executable is not a plugin, is not allowed, or did not describe itself. Plugin.reason says
     * which.
     *
     * @generated from enum value: PLUGIN_STATE_UNUSABLE = 6;
     */
    UNUSABLE = 6
}
/**
 * Describes the enum toolhost.v1.PluginState.
 */
export declare const PluginStateSchema: GenEnum<PluginState>;
/**
 * InstanceState is the state of a plugin process. Only a READY process receives new calls.
 *
 * @generated from enum toolhost.v1.InstanceState
 */
export declare enum InstanceState {
    /**
     * Not set.
     *
     * @generated from enum value: INSTANCE_STATE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The instance waits until fewer instances are starting.
     *
     * @generated from enum value: INSTANCE_STATE_QUEUED = 1;
     */
    QUEUED = 1,
    /**
     * Reserved: toolhost verifies the executable when it finds it, before an instance exists.
     *
     * @generated from enum value: INSTANCE_STATE_VERIFYING = 2;
     */
    VERIFYING = 2,
    /**
     * toolhost is creating the process.
     *
     * @generated from enum value: INSTANCE_STATE_STARTING = 3;
     */
    STARTING = 3,
    /**
     * The process runs, but has not yet announced its socket.
     *
     * @generated from enum value: INSTANCE_STATE_HANDSHAKING = 4;
     */
    HANDSHAKING = 4,
    /**
     * toolhost has connected and checks whether the process is ready.
     *
     * @generated from enum value: INSTANCE_STATE_WARMING = 5;
     */
    WARMING = 5,
    /**
     * The instance accepts calls.
     *
     * @generated from enum value: INSTANCE_STATE_READY = 6;
     */
    READY = 6,
    /**
     * A call did not stop after its cancellation. The instance accepts no new calls until that call
     * stops or toolhost stops the instance.
     *
     * @generated from enum value: INSTANCE_STATE_UNHEALTHY = 7;
     */
    UNHEALTHY = 7,
    /**
     * The instance finishes its calls and accepts no new ones.
     *
     * @generated from enum value: INSTANCE_STATE_DRAINING = 8;
     */
    DRAINING = 8,
    /**
     * toolhost is stopping the process.
     *
     * @generated from enum value: INSTANCE_STATE_STOPPING = 9;
     */
    STOPPING = 9,
    /**
     * The process has ended and its resources are released.
     *
     * @generated from enum value: INSTANCE_STATE_EXITED = 10;
     */
    EXITED = 10
}
/**
 * Describes the enum toolhost.v1.InstanceState.
 */
export declare const InstanceStateSchema: GenEnum<InstanceState>;
/**
 * CallState is the state of a call.
 *
 * @generated from enum toolhost.v1.CallState
 */
export declare enum CallState {
    /**
     * Not set.
     *
     * @generated from enum value: CALL_STATE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The call is running.
     *
     * @generated from enum value: CALL_STATE_RUNNING = 1;
     */
    RUNNING = 1,
    /**
     * The call ended with a result without `is_error`.
     *
     * @generated from enum value: CALL_STATE_SUCCEEDED = 2;
     */
    SUCCEEDED = 2,
    /**
     * The call ended with a result with `is_error`.
     *
     * @generated from enum value: CALL_STATE_TOOL_ERROR = 3;
     */
    TOOL_ERROR = 3,
    /**
     * The call ended with an infrastructure failure.
     *
     * @generated from enum value: CALL_STATE_FAILED = 4;
     */
    FAILED = 4,
    /**
     * The call was not executed, because a person has to approve it first.
     *
     * @generated from enum value: CALL_STATE_NEEDS_APPROVAL = 5;
     */
    NEEDS_APPROVAL = 5
}
/**
 * Describes the enum toolhost.v1.CallState.
 */
export declare const CallStateSchema: GenEnum<CallState>;
/**
 * AdminService inspects and controls plugins and their processes. An RPC affects only the plugin
 * that it names.
 *
 * Each RPC fails with DENIED for a caller without its right. Errors are toolhost.tool.v1.Error as a
 * detail of the gRPC status.
 *
 * @generated from service toolhost.v1.AdminService
 */
export declare const AdminService: GenService<{
    /**
     * ListPlugins lists all plugins, including unusable ones, ordered by name.
     *
     * @generated from rpc toolhost.v1.AdminService.ListPlugins
     */
    listPlugins: {
        methodKind: "unary";
        input: typeof ListPluginsRequestSchema;
        output: typeof ListPluginsResponseSchema;
    };
    /**
     * ListInstances lists running plugin processes, ordered by plugin and start time. Errors:
     * NOT_FOUND if the plugin does not exist.
     *
     * @generated from rpc toolhost.v1.AdminService.ListInstances
     */
    listInstances: {
        methodKind: "unary";
        input: typeof ListInstancesRequestSchema;
        output: typeof ListInstancesResponseSchema;
    };
    /**
     * Restart replaces the processes of a plugin. New calls go to a new process; calls in flight
     * finish in the old one, up to the drain timeout. Errors: NOT_FOUND if the plugin does not exist;
     * UNAVAILABLE if the new process does not start, in which case the old one continues.
     *
     * @generated from rpc toolhost.v1.AdminService.Restart
     */
    restart: {
        methodKind: "unary";
        input: typeof RestartRequestSchema;
        output: typeof RestartResponseSchema;
    };
    /**
     * Drain lets the processes of a plugin finish their calls, stops them, and returns when they have
     * ended. New calls start new processes, unless the plugin is paused. Errors: NOT_FOUND.
     *
     * @generated from rpc toolhost.v1.AdminService.Drain
     */
    drain: {
        methodKind: "unary";
        input: typeof DrainRequestSchema;
        output: typeof DrainResponseSchema;
    };
    /**
     * Pause makes a plugin refuse calls until Resume. Waiting and new calls fail with UNAVAILABLE;
     * calls in flight finish. Errors: NOT_FOUND.
     *
     * @generated from rpc toolhost.v1.AdminService.Pause
     */
    pause: {
        methodKind: "unary";
        input: typeof PauseRequestSchema;
        output: typeof PauseResponseSchema;
    };
    /**
     * Resume ends a pause. Errors: NOT_FOUND.
     *
     * @generated from rpc toolhost.v1.AdminService.Resume
     */
    resume: {
        methodKind: "unary";
        input: typeof ResumeRequestSchema;
        output: typeof ResumeResponseSchema;
    };
    /**
     * ClearQuarantine ends a quarantine or a backoff, so that the next call starts a process. Errors:
     * NOT_FOUND.
     *
     * @generated from rpc toolhost.v1.AdminService.ClearQuarantine
     */
    clearQuarantine: {
        methodKind: "unary";
        input: typeof ClearQuarantineRequestSchema;
        output: typeof ClearQuarantineResponseSchema;
    };
    /**
     * Reload applies the changes of the configuration file, and then scans the plugin folders again:
     * it adds new plugins, removes plugins whose files are gone, and upgrades changed ones. It returns
     * when each change has succeeded or failed. No call fails because of a Reload: a call that has
     * begun keeps the configuration that it began with.
     *
     * @generated from rpc toolhost.v1.AdminService.Reload
     */
    reload: {
        methodKind: "unary";
        input: typeof ReloadRequestSchema;
        output: typeof ReloadResponseSchema;
    };
    /**
     * DiffConfiguration returns what Reload would change in the configuration. It changes nothing.
     *
     * @generated from rpc toolhost.v1.AdminService.DiffConfiguration
     */
    diffConfiguration: {
        methodKind: "unary";
        input: typeof DiffConfigurationRequestSchema;
        output: typeof DiffConfigurationResponseSchema;
    };
    /**
     * Upgrade switches a plugin to the executable that is in its folder now, also after a rollback.
     * No call fails: the new process takes over when it is ready. Errors: NOT_FOUND if the plugin
     * does not exist; UNAVAILABLE if the new process does not start, in which case the old one
     * continues.
     *
     * @generated from rpc toolhost.v1.AdminService.Upgrade
     */
    upgrade: {
        methodKind: "unary";
        input: typeof UpgradeRequestSchema;
        output: typeof UpgradeResponseSchema;
    };
    /**
     * Rollback switches a plugin back to an earlier executable, until its file changes again or
     * Upgrade is called. Errors: NOT_FOUND if the plugin or the earlier executable does not exist;
     * UNAVAILABLE if the new process does not start, in which case the old one continues.
     *
     * @generated from rpc toolhost.v1.AdminService.Rollback
     */
    rollback: {
        methodKind: "unary";
        input: typeof RollbackRequestSchema;
        output: typeof RollbackResponseSchema;
    };
    /**
     * ListRevisions lists which executables of a plugin came into service, and when, newest first. At
     * most 10. Errors: NOT_FOUND if the plugin does not exist.
     *
     * @generated from rpc toolhost.v1.AdminService.ListRevisions
     */
    listRevisions: {
        methodKind: "unary";
        input: typeof ListRevisionsRequestSchema;
        output: typeof ListRevisionsResponseSchema;
    };
    /**
     * GetLockFile returns the path of the lock file, which pins plugins to digests, and whether
     * toolhost enforces it. After a change to the file, call Reload.
     *
     * @generated from rpc toolhost.v1.AdminService.GetLockFile
     */
    getLockFile: {
        methodKind: "unary";
        input: typeof GetLockFileRequestSchema;
        output: typeof GetLockFileResponseSchema;
    };
    /**
     * WatchEvents streams events of plugins and processes: first the stored events, then, with
     * `follow`, new ones. The stream ends without an error when toolhost shuts down. For an unknown
     * plugin there are no events.
     *
     * @generated from rpc toolhost.v1.AdminService.WatchEvents
     */
    watchEvents: {
        methodKind: "server_streaming";
        input: typeof WatchEventsRequestSchema;
        output: typeof WatchEventsResponseSchema;
    };
    /**
     * TailLogs streams the output of plugins: the lines of standard output and standard error, and
     * the log records of calls. It returns first the stored lines, then, with `follow`, new ones. The
     * stream ends without an error when toolhost shuts down. Errors: NOT_FOUND.
     *
     * @generated from rpc toolhost.v1.AdminService.TailLogs
     */
    tailLogs: {
        methodKind: "server_streaming";
        input: typeof TailLogsRequestSchema;
        output: typeof TailLogsResponseSchema;
    };
    /**
     * ListCalls lists calls of all principals of the tenants in which the caller has the right to list
     * calls, newest first. It lists calls that are running, calls
     * in the ledger, and calls that ended in the last 15 minutes (at most 1000) and are not in the
     * ledger. Of calls from before the last start of toolhost, it lists those in the ledger and those
     * that failed.
     *
     * @generated from rpc toolhost.v1.AdminService.ListCalls
     */
    listCalls: {
        methodKind: "unary";
        input: typeof ListCallsRequestSchema;
        output: typeof ListCallsResponseSchema;
    };
    /**
     * GetStats returns statistics about tools, ordered by tool. Errors: NOT_FOUND if the plugin does
     * not exist.
     *
     * @generated from rpc toolhost.v1.AdminService.GetStats
     */
    getStats: {
        methodKind: "unary";
        input: typeof GetStatsRequestSchema;
        output: typeof GetStatsResponseSchema;
    };
    /**
     * ReadAudit streams lines of the audit log, the oldest first. It returns only lines of tenants in
     * which the caller has the right to read the audit log. A caller with the right in all tenants
     * also gets lines without a tenant, such as failed authentications. Errors: UNAVAILABLE if the log
     * cannot be read.
     *
     * @generated from rpc toolhost.v1.AdminService.ReadAudit
     */
    readAudit: {
        methodKind: "server_streaming";
        input: typeof ReadAuditRequestSchema;
        output: typeof ReadAuditResponseSchema;
    };
}>;
