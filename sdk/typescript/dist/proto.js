/**
 * The generated protobuf code, for RPCs without a client method, such as those of AdminService.
 */
export * as agentd from "./gen/agentd/v1/agent_service_pb.js";
export * as plugin from "./gen/toolhost/plugin/v1/plugin_pb.js";
export * as toolError from "./gen/toolhost/tool/v1/error_pb.js";
export * as toolPermissions from "./gen/toolhost/tool/v1/permissions_pb.js";
export * as toolResult from "./gen/toolhost/tool/v1/result_pb.js";
export * as toolSpec from "./gen/toolhost/tool/v1/spec_pb.js";
export * as toolStatus from "./gen/toolhost/tool/v1/status_pb.js";
export * as admin from "./gen/toolhost/v1/admin_service_pb.js";
export * as toolhost from "./gen/toolhost/v1/tool_service_pb.js";
