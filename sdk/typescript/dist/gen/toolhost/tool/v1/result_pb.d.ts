import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/result.proto.
 */
export declare const file_toolhost_tool_v1_result: GenFile;
/**
 * Result is the answer of a tool. A failure that the model should read and react to is a Result
 * with `is_error`. An infrastructure failure is an Error instead.
 *
 * @generated from message toolhost.tool.v1.Result
 */
export type Result = Message<"toolhost.tool.v1.Result"> & {
    /**
     * The content blocks, in order. Empty if the tool has nothing to say.
     *
     * @generated from field: repeated toolhost.tool.v1.Content content = 1;
     */
    content: Content[];
    /**
     * Whether the tool reports a failure. The content then describes it.
     *
     * @generated from field: bool is_error = 2;
     */
    isError: boolean;
    /**
     * Changes to the run's context. agentd applies them in the order of the calls. Effects of a
     * result with `is_error` are ignored.
     *
     * @generated from field: repeated toolhost.tool.v1.Effect effects = 3;
     */
    effects: Effect[];
    /**
     * How long the tool ran. toolhost sets it; a value from a plugin is ignored.
     *
     * @generated from field: google.protobuf.Duration duration = 4;
     */
    duration?: Duration | undefined;
    /**
     * The model tokens that the tool itself used. Unset means none.
     *
     * @generated from field: toolhost.tool.v1.Usage usage = 5;
     */
    usage?: Usage | undefined;
    /**
     * The cost of the call, in the unit of ToolSpec.cost_per_use. From a plugin: a value that is not
     * positive and finite, 0 included, means the declared cost per use. From toolhost: the sum over
     * all attempts of the call. A replayed outcome repeats the cost of the original execution, so
     * count each call id once when you add costs.
     *
     * @generated from field: double cost = 6;
     */
    cost: number;
    /**
     * Additional JSON values by key. Keys that begin with `toolhost.` are reserved for toolhost.
     *
     * @generated from field: map<string, bytes> metadata = 7;
     */
    metadata: {
        [key: string]: Uint8Array;
    };
};
/**
 * Describes the message toolhost.tool.v1.Result.
 * Use `create(ResultSchema)` to create a new message.
 */
export declare const ResultSchema: GenMessage<Result>;
/**
 * Content is one block of a result.
 *
 * @generated from message toolhost.tool.v1.Content
 */
export type Content = Message<"toolhost.tool.v1.Content"> & {
    /**
     * The block. Exactly one is set.
     *
     * @generated from oneof toolhost.tool.v1.Content.block
     */
    block: {
        /**
         * Plain text or Markdown.
         *
         * @generated from field: string text = 1;
         */
        value: string;
        case: "text";
    } | {
        /**
         * One JSON value.
         *
         * @generated from field: bytes json = 2;
         */
        value: Uint8Array;
        case: "json";
    } | {
        /**
         * An image, for models that accept images.
         *
         * @generated from field: toolhost.tool.v1.Blob image = 3;
         */
        value: Blob;
        case: "image";
    } | {
        /**
         * Any other file.
         *
         * @generated from field: toolhost.tool.v1.Blob file = 4;
         */
        value: Blob;
        case: "file";
    } | {
        /**
         * A reference to content that toolhost stores because it is too large to include.
         *
         * @generated from field: toolhost.tool.v1.Artifact artifact = 5;
         */
        value: Artifact;
        case: "artifact";
    } | {
        case: undefined;
        value?: undefined;
    };
    /**
     * The resource that a text or a file is a copy of, such as one of an MCP server. Absent: none.
     *
     * @generated from field: toolhost.tool.v1.ResourceOrigin resource = 6;
     */
    resource?: ResourceOrigin | undefined;
};
/**
 * Describes the message toolhost.tool.v1.Content.
 * Use `create(ContentSchema)` to create a new message.
 */
export declare const ContentSchema: GenMessage<Content>;
/**
 * ResourceOrigin names the resource that a block is a copy of.
 *
 * @generated from message toolhost.tool.v1.ResourceOrigin
 */
export type ResourceOrigin = Message<"toolhost.tool.v1.ResourceOrigin"> & {
    /**
     * The URI of the resource. The server of the tool chose it, so it may name anything.
     *
     * @generated from field: string uri = 1;
     */
    uri: string;
    /**
     * The IANA media type of a text. Empty for a file, which has one itself, and if it is not known.
     *
     * @generated from field: string media_type = 2;
     */
    mediaType: string;
};
/**
 * Describes the message toolhost.tool.v1.ResourceOrigin.
 * Use `create(ResourceOriginSchema)` to create a new message.
 */
export declare const ResourceOriginSchema: GenMessage<ResourceOrigin>;
/**
 * Blob is binary data with its media type.
 *
 * @generated from message toolhost.tool.v1.Blob
 */
export type Blob = Message<"toolhost.tool.v1.Blob"> & {
    /**
     * The IANA media type, such as `image/png`. Must not be empty.
     *
     * @generated from field: string media_type = 1;
     */
    mediaType: string;
    /**
     * A file name without folders. May be empty.
     *
     * @generated from field: string name = 2;
     */
    name: string;
    /**
     * The bytes.
     *
     * @generated from field: bytes data = 3;
     */
    data: Uint8Array;
};
/**
 * Describes the message toolhost.tool.v1.Blob.
 * Use `create(BlobSchema)` to create a new message.
 */
export declare const BlobSchema: GenMessage<Blob>;
/**
 * Artifact refers to content that toolhost stores. The model sees only the excerpts in `head` and
 * `tail`.
 *
 * @generated from message toolhost.tool.v1.Artifact
 */
export type Artifact = Message<"toolhost.tool.v1.Artifact"> & {
    /**
     * The handle by which callers and other tools read the whole content; see ReadArtifact.
     *
     * @generated from field: string handle = 1;
     */
    handle: string;
    /**
     * The IANA media type of the whole content.
     *
     * @generated from field: string media_type = 2;
     */
    mediaType: string;
    /**
     * The size of the whole content, in bytes.
     *
     * @generated from field: uint64 size = 3;
     */
    size: bigint;
    /**
     * The beginning of a text. Empty for other media types.
     *
     * @generated from field: string head = 4;
     */
    head: string;
    /**
     * The end of a text. Empty for other media types, and if `head` is the whole text.
     *
     * @generated from field: string tail = 5;
     */
    tail: string;
    /**
     * A file name without folders. May be empty.
     *
     * @generated from field: string name = 6;
     */
    name: string;
};
/**
 * Describes the message toolhost.tool.v1.Artifact.
 * Use `create(ArtifactSchema)` to create a new message.
 */
export declare const ArtifactSchema: GenMessage<Artifact>;
/**
 * Effect requests a change to the run's context. A tool returns it instead of making the change.
 *
 * A tool may change only the keys that it declares in ToolSpec.effect_keys. toolhost removes other
 * effects from the result and lists them, with reasons, in the metadata key
 * `toolhost.refused_effects`. agentd checks the effects again before it applies them. Every other
 * caller should do the same, and should also refuse keys that were set when the run started. No
 * effect may change the keys `tenant`, `user`, `session`, `run` and `turn`, because they identify
 * the run and the people that it works for, nor keys that begin with `toolhost.`.
 *
 * @generated from message toolhost.tool.v1.Effect
 */
export type Effect = Message<"toolhost.tool.v1.Effect"> & {
    /**
     * The context key to change.
     *
     * @generated from field: string key = 1;
     */
    key: string;
    /**
     * How `value` is combined with the current value.
     *
     * @generated from field: toolhost.tool.v1.EffectOperation operation = 2;
     */
    operation: EffectOperation;
    /**
     * A JSON value.
     *
     * @generated from field: bytes value = 3;
     */
    value: Uint8Array;
};
/**
 * Describes the message toolhost.tool.v1.Effect.
 * Use `create(EffectSchema)` to create a new message.
 */
export declare const EffectSchema: GenMessage<Effect>;
/**
 * Usage counts the tokens of model requests.
 *
 * @generated from message toolhost.tool.v1.Usage
 */
export type Usage = Message<"toolhost.tool.v1.Usage"> & {
    /**
     * Tokens read, including cached ones.
     *
     * @generated from field: uint64 input_tokens = 1;
     */
    inputTokens: bigint;
    /**
     * Tokens generated.
     *
     * @generated from field: uint64 output_tokens = 2;
     */
    outputTokens: bigint;
    /**
     * The part of `input_tokens` that the provider served from its cache.
     *
     * @generated from field: uint64 cache_read_tokens = 3;
     */
    cacheReadTokens: bigint;
    /**
     * Tokens that the request added to the provider's cache.
     *
     * @generated from field: uint64 cache_write_tokens = 4;
     */
    cacheWriteTokens: bigint;
};
/**
 * Describes the message toolhost.tool.v1.Usage.
 * Use `create(UsageSchema)` to create a new message.
 */
export declare const UsageSchema: GenMessage<Usage>;
/**
 * EffectOperation says how the value of an effect is combined with the current value of its key.
 *
 * @generated from enum toolhost.tool.v1.EffectOperation
 */
export declare enum EffectOperation {
    /**
     * Not set. The same as REPLACE.
     *
     * @generated from enum value: EFFECT_OPERATION_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The new value replaces the current one.
     *
     * @generated from enum value: EFFECT_OPERATION_REPLACE = 1;
     */
    REPLACE = 1,
    /**
     * The new value is appended to the current list. An absent key counts as an empty list.
     *
     * @generated from enum value: EFFECT_OPERATION_APPEND = 2;
     */
    APPEND = 2,
    /**
     * The new value is a JSON merge patch (RFC 7396). Both values must be objects.
     *
     * @generated from enum value: EFFECT_OPERATION_MERGE = 3;
     */
    MERGE = 3
}
/**
 * Describes the enum toolhost.tool.v1.EffectOperation.
 */
export declare const EffectOperationSchema: GenEnum<EffectOperation>;
