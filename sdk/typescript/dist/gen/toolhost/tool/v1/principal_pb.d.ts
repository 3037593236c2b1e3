import type { GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/principal.proto.
 */
export declare const file_toolhost_tool_v1_principal: GenFile;
/**
 * Principal is the identity of a caller. A server derives it from a connection or a credential. In
 * a request, only a delegate may name a principal, because it has verified that principal itself.
 *
 * @generated from message toolhost.tool.v1.Principal
 */
export type Principal = Message<"toolhost.tool.v1.Principal"> & {
    /**
     * The tenant: 1 to 63 of the characters a-z 0-9 -, beginning with a letter or digit. Empty means
     * `default`.
     *
     * @generated from field: string tenant = 1;
     */
    tenant: string;
    /**
     * The name within the tenant: 1 to 128 printable ASCII characters without spaces.
     *
     * @generated from field: string name = 2;
     */
    name: string;
    /**
     * The groups within the tenant, each by the rules for `name`. At most 64.
     *
     * @generated from field: repeated string groups = 3;
     */
    groups: string[];
};
/**
 * Describes the message toolhost.tool.v1.Principal.
 * Use `create(PrincipalSchema)` to create a new message.
 */
export declare const PrincipalSchema: GenMessage<Principal>;
