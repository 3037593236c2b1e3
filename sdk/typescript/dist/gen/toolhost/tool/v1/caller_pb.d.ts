import type { GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/caller.proto.
 */
export declare const file_toolhost_tool_v1_caller: GenFile;
/**
 * CallerInfo says how a server identified the caller of an RPC, and what the caller may do there.
 *
 * @generated from message toolhost.tool.v1.CallerInfo
 */
export type CallerInfo = Message<"toolhost.tool.v1.CallerInfo"> & {
    /**
     * The key of the principal: its name in the tenant `default`, and TENANT/NAME in another tenant or
     * if the name contains a slash.
     *
     * @generated from field: string principal = 1;
     */
    principal: string;
    /**
     * The tenant of the principal.
     *
     * @generated from field: string tenant = 2;
     */
    tenant: string;
    /**
     * The groups of the principal, in no order.
     *
     * @generated from field: repeated string groups = 3;
     */
    groups: string[];
    /**
     * How the server identified the caller: `peer` (the user of a unix socket), `certificate`, `token`,
     * `jwt`, or `none` (an anonymous caller).
     *
     * @generated from field: string credential = 4;
     */
    credential: string;
    /**
     * The name of the credential, such as the id of a token. Empty: it has no name.
     *
     * @generated from field: string credential_id = 5;
     */
    credentialId: string;
    /**
     * When the credential expires. Not set: it does not expire.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 6;
     */
    expireTime?: Timestamp | undefined;
    /**
     * From where the caller reached the server: an IP address, or `unix`.
     *
     * @generated from field: string address = 7;
     */
    address: string;
    /**
     * The roles to which the token is limited. Empty: the token has no such limit.
     *
     * @generated from field: repeated string scope_roles = 8;
     */
    scopeRoles: string[];
    /**
     * The patterns of names of tools to which the token is limited. Empty: the token has no such limit.
     *
     * @generated from field: repeated string scope_tools = 9;
     */
    scopeTools: string[];
    /**
     * The roles that bindings give to the principal, in the order of the bindings. `rights` takes the
     * limits of the token into account, and this list does not.
     *
     * @generated from field: repeated toolhost.tool.v1.GrantedRole roles = 10;
     */
    roles: GrantedRole[];
    /**
     * The rights that the caller has, limited to those that the server knows a use for.
     *
     * @generated from field: repeated toolhost.tool.v1.GrantedRight rights = 11;
     */
    rights: GrantedRight[];
};
/**
 * Describes the message toolhost.tool.v1.CallerInfo.
 * Use `create(CallerInfoSchema)` to create a new message.
 */
export declare const CallerInfoSchema: GenMessage<CallerInfo>;
/**
 * GrantedRole is a role that one binding gives to a principal.
 *
 * @generated from message toolhost.tool.v1.GrantedRole
 */
export type GrantedRole = Message<"toolhost.tool.v1.GrantedRole"> & {
    /**
     * The name of the role.
     *
     * @generated from field: string role = 1;
     */
    role: string;
    /**
     * The tenants in which the principal has the role. Empty if `all_tenants` is set.
     *
     * @generated from field: repeated string tenants = 2;
     */
    tenants: string[];
    /**
     * Whether the principal has the role in every tenant.
     *
     * @generated from field: bool all_tenants = 3;
     */
    allTenants: boolean;
    /**
     * The patterns of names of tools to which the binding is limited. Empty: all tools.
     *
     * @generated from field: repeated string tools = 4;
     */
    tools: string[];
};
/**
 * Describes the message toolhost.tool.v1.GrantedRole.
 * Use `create(GrantedRoleSchema)` to create a new message.
 */
export declare const GrantedRoleSchema: GenMessage<GrantedRole>;
/**
 * GrantedRight is a right of a caller.
 *
 * @generated from message toolhost.tool.v1.GrantedRight
 */
export type GrantedRight = Message<"toolhost.tool.v1.GrantedRight"> & {
    /**
     * The name of the right, such as `tools.call`.
     *
     * @generated from field: string right = 1;
     */
    right: string;
    /**
     * The tenants in which the caller has the right. Empty if `all_tenants` is set.
     *
     * @generated from field: repeated string tenants = 2;
     */
    tenants: string[];
    /**
     * Whether the caller has the right in every tenant.
     *
     * @generated from field: bool all_tenants = 3;
     */
    allTenants: boolean;
};
/**
 * Describes the message toolhost.tool.v1.GrantedRight.
 * Use `create(GrantedRightSchema)` to create a new message.
 */
export declare const GrantedRightSchema: GenMessage<GrantedRight>;
