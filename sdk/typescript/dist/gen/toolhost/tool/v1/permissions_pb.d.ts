import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/permissions.proto.
 */
export declare const file_toolhost_tool_v1_permissions: GenFile;
/**
 * Permissions lists the access that a plugin requests beyond what every plugin has. A request
 * grants nothing: only the operator's configuration grants access.
 *
 * @generated from message toolhost.tool.v1.Permissions
 */
export type Permissions = Message<"toolhost.tool.v1.Permissions"> & {
    /**
     * Requests network access. False means none.
     *
     * @generated from field: bool network = 1;
     */
    network: boolean;
    /**
     * The requested access to the workspace folder. UNSPECIFIED means none.
     *
     * @generated from field: toolhost.tool.v1.Access workspace = 2;
     */
    workspace: Access;
    /**
     * Absolute paths of other files and folders that the plugin wants to read. Empty means none.
     *
     * @generated from field: repeated string read = 3;
     */
    read: string[];
    /**
     * Absolute paths of other files and folders that the plugin wants to change. Empty means none.
     *
     * @generated from field: repeated string write = 4;
     */
    write: string[];
};
/**
 * Describes the message toolhost.tool.v1.Permissions.
 * Use `create(PermissionsSchema)` to create a new message.
 */
export declare const PermissionsSchema: GenMessage<Permissions>;
/**
 * Access is a level of file access.
 *
 * @generated from enum toolhost.tool.v1.Access
 */
export declare enum Access {
    /**
     * Not set. The same as NONE.
     *
     * @generated from enum value: ACCESS_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * No access.
     *
     * @generated from enum value: ACCESS_NONE = 1;
     */
    NONE = 1,
    /**
     * The process may read and execute files.
     *
     * @generated from enum value: ACCESS_READ = 2;
     */
    READ = 2,
    /**
     * The process may also create, change and delete files.
     *
     * @generated from enum value: ACCESS_WRITE = 3;
     */
    WRITE = 3
}
/**
 * Describes the enum toolhost.tool.v1.Access.
 */
export declare const AccessSchema: GenEnum<Access>;
