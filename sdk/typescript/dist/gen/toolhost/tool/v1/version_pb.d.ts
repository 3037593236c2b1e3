import type { GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/version.proto.
 */
export declare const file_toolhost_tool_v1_version: GenFile;
/**
 * VersionInfo identifies a build of toolhost or agentd.
 *
 * @generated from message toolhost.tool.v1.VersionInfo
 */
export type VersionInfo = Message<"toolhost.tool.v1.VersionInfo"> & {
    /**
     * The semantic version, such as `0.1.0`.
     *
     * @generated from field: string version = 1;
     */
    version: string;
    /**
     * The commit that the program was built from, with `-dirty` if files were changed. `unknown` if
     * the build does not contain it.
     *
     * @generated from field: string commit = 2;
     */
    commit: string;
    /**
     * The contracts of the version.
     *
     * @generated from field: toolhost.tool.v1.Contracts contracts = 3;
     */
    contracts?: Contracts | undefined;
};
/**
 * Describes the message toolhost.tool.v1.VersionInfo.
 * Use `create(VersionInfoSchema)` to create a new message.
 */
export declare const VersionInfoSchema: GenMessage<VersionInfo>;
/**
 * Contracts lists the contracts of a version, by the names of their protobuf packages. Each name
 * ends with the major version of the contract. toolhost and agentd both list all of them.
 *
 * @generated from message toolhost.tool.v1.Contracts
 */
export type Contracts = Message<"toolhost.tool.v1.Contracts"> & {
    /**
     * The contract between toolhost and plugins, such as `toolhost.plugin.v1`.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The API of toolhost, such as `toolhost.v1`.
     *
     * @generated from field: string host = 2;
     */
    host: string;
    /**
     * The API of agentd, such as `agentd.v1`.
     *
     * @generated from field: string agent = 3;
     */
    agent: string;
    /**
     * The contract between toolhost, its plugins and servers of workspaces, such as
     * `toolhost.workspace.v1`. Empty in older programs.
     *
     * @generated from field: string workspace = 4;
     */
    workspace: string;
};
/**
 * Describes the message toolhost.tool.v1.Contracts.
 * Use `create(ContractsSchema)` to create a new message.
 */
export declare const ContractsSchema: GenMessage<Contracts>;
/**
 * SdkInfo identifies the SDK that a plugin uses. The plugin writes it, so it is not verified.
 *
 * @generated from message toolhost.tool.v1.SdkInfo
 */
export type SdkInfo = Message<"toolhost.tool.v1.SdkInfo"> & {
    /**
     * The name of the SDK. The SDKs of toolhost are `toolhost-go`, `toolhost-python` and
     * `toolhost-typescript`.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The version of the SDK. Any text; semantic versioning is usual.
     *
     * @generated from field: string version = 2;
     */
    version: string;
};
/**
 * Describes the message toolhost.tool.v1.SdkInfo.
 * Use `create(SdkInfoSchema)` to create a new message.
 */
export declare const SdkInfoSchema: GenMessage<SdkInfo>;
