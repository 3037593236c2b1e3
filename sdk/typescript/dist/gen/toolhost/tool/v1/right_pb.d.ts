import type { GenEnum, GenExtension, GenFile } from "@bufbuild/protobuf/codegenv2";
import type { MethodOptions } from "@bufbuild/protobuf/wkt";
/**
 * Describes the file toolhost/tool/v1/right.proto.
 */
export declare const file_toolhost_tool_v1_right: GenFile;
/**
 * Right permits a group of RPCs, or an act within one. The operator groups rights to roles and
 * gives roles to principals. An act on something of another tenant needs the right in that tenant.
 *
 * @generated from enum toolhost.tool.v1.Right
 */
export declare enum Right {
    /**
     * Not set. No RPC has it.
     *
     * @generated from enum value: RIGHT_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * Seeing which tools exist, and what they declare.
     *
     * @generated from enum value: RIGHT_TOOLS_LIST = 1;
     */
    TOOLS_LIST = 1,
    /**
     * Calling tools.
     *
     * @generated from enum value: RIGHT_TOOLS_CALL = 2;
     */
    TOOLS_CALL = 2,
    /**
     * Watching, canceling and reading the caller's own calls.
     *
     * @generated from enum value: RIGHT_CALLS_OWN = 3;
     */
    CALLS_OWN = 3,
    /**
     * Approving calls.
     *
     * @generated from enum value: RIGHT_CALLS_APPROVE = 4;
     */
    CALLS_APPROVE = 4,
    /**
     * Seeing the calls of all principals of a tenant.
     *
     * @generated from enum value: RIGHT_CALLS_LIST = 5;
     */
    CALLS_LIST = 5,
    /**
     * Seeing plugins, their instances and the lock file.
     *
     * @generated from enum value: RIGHT_PLUGINS_READ = 6;
     */
    PLUGINS_READ = 6,
    /**
     * Stopping and starting instances: restart, drain, pause, resume, and clearing a quarantine. It
     * concerns all tenants.
     *
     * @generated from enum value: RIGHT_PLUGINS_OPERATE = 7;
     */
    PLUGINS_OPERATE = 7,
    /**
     * Changing which revision of a plugin is in service. It concerns all tenants.
     *
     * @generated from enum value: RIGHT_PLUGINS_CHANGE = 8;
     */
    PLUGINS_CHANGE = 8,
    /**
     * Comparing the configuration file with the configuration in force. It concerns all tenants.
     *
     * @generated from enum value: RIGHT_CONFIG_READ = 9;
     */
    CONFIG_READ = 9,
    /**
     * Applying a changed configuration file. It concerns all tenants.
     *
     * @generated from enum value: RIGHT_CONFIG_RELOAD = 10;
     */
    CONFIG_RELOAD = 10,
    /**
     * Seeing the events of plugins.
     *
     * @generated from enum value: RIGHT_EVENTS_READ = 11;
     */
    EVENTS_READ = 11,
    /**
     * Seeing the output of plugins.
     *
     * @generated from enum value: RIGHT_LOGS_READ = 12;
     */
    LOGS_READ = 12,
    /**
     * Seeing statistics of tools.
     *
     * @generated from enum value: RIGHT_STATS_READ = 13;
     */
    STATS_READ = 13,
    /**
     * Seeing the audit log.
     *
     * @generated from enum value: RIGHT_AUDIT_READ = 14;
     */
    AUDIT_READ = 14,
    /**
     * Starting runs and sending messages to them.
     *
     * @generated from enum value: RIGHT_RUNS_START = 15;
     */
    RUNS_START = 15,
    /**
     * Seeing, answering, canceling and deleting the caller's own runs.
     *
     * @generated from enum value: RIGHT_RUNS_OWN = 16;
     */
    RUNS_OWN = 16,
    /**
     * Seeing the runs of all principals of a tenant.
     *
     * @generated from enum value: RIGHT_RUNS_LIST = 17;
     */
    RUNS_LIST = 17,
    /**
     * Deciding what the runs of a tenant ask people.
     *
     * @generated from enum value: RIGHT_RUNS_APPROVE = 18;
     */
    RUNS_APPROVE = 18,
    /**
     * Acting on behalf of other principals.
     *
     * @generated from enum value: RIGHT_DELEGATE = 19;
     */
    DELEGATE = 19,
    /**
     * Asking for the version of the server.
     *
     * @generated from enum value: RIGHT_VERSION_READ = 20;
     */
    VERSION_READ = 20,
    /**
     * Asking the server for the descriptors of its services.
     *
     * @generated from enum value: RIGHT_REFLECTION_READ = 21;
     */
    REFLECTION_READ = 21,
    /**
     * Asking the server how it identified the caller, and what the caller may do. Every caller that the
     * server has identified has this right, without a role.
     *
     * @generated from enum value: RIGHT_SELF_READ = 22;
     */
    SELF_READ = 22,
    /**
     * Logging in to MCP servers, and out, for oneself.
     *
     * @generated from enum value: RIGHT_LOGINS_OWN = 23;
     */
    LOGINS_OWN = 23,
    /**
     * Starting runs with a model, instructions, tools or limits outside of a named agent.
     *
     * @generated from enum value: RIGHT_RUNS_CUSTOMIZE = 24;
     */
    RUNS_CUSTOMIZE = 24,
    /**
     * Deleting the finished runs of all principals of a tenant.
     *
     * @generated from enum value: RIGHT_RUNS_DELETE = 25;
     */
    RUNS_DELETE = 25
}
/**
 * Describes the enum toolhost.tool.v1.Right.
 */
export declare const RightSchema: GenEnum<Right>;
/**
 * The rights of which the caller of the RPC needs one. toolhost and agentd refuse a caller without
 * any of them with PERMISSION_DENIED.
 *
 * @generated from extension: repeated toolhost.tool.v1.Right right = 50018;
 */
export declare const right: GenExtension<MethodOptions, Right[]>;
