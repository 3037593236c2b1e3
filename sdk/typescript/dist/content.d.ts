/** Plain text or Markdown. */
export interface TextContent {
    readonly kind: "text";
    /** The text. */
    readonly text: string;
}
/** One JSON value. */
export interface JSONContent {
    readonly kind: "json";
    /** The value as JSON text, byte for byte as the tool sent it. */
    readonly json: string;
    /** The decoded value. Integers beyond 2^53 are bigint. */
    readonly value: unknown;
}
/** An image for models that accept images, or a file of any other media type. */
export interface BlobContent {
    readonly kind: "image" | "file";
    /** The IANA media type, such as `image/png`. */
    readonly mediaType: string;
    /** A file name without folders. May be empty. */
    readonly name: string;
    /** The bytes. */
    readonly data: Uint8Array;
}
/** Content that is too large for a result. toolhost stores it, and the handle reads it. */
export interface ArtifactContent {
    readonly kind: "artifact";
    /** The handle by which a caller or another tool reads the content. */
    readonly handle: string;
    /** The IANA media type of the complete content. */
    readonly mediaType: string;
    /** The size of the complete content, in bytes. */
    readonly size: number;
    /** The beginning of a text. Empty for other media types. */
    readonly head: string;
    /** The end of a text. Empty for other media types, or if `head` is the complete text. */
    readonly tail: string;
    /** A file name without folders. May be empty. */
    readonly name: string;
}
/**
 * One block of a result. Functions such as `text` create blocks. Any other object is a JSON value.
 */
export type Content = TextContent | JSONContent | BlobContent | ArtifactContent;
/**
 * How an effect combines its value with the existing one: replace it, append to a list, or apply a
 * JSON merge patch (RFC 7396).
 */
export type EffectOperation = "replace" | "append" | "merge";
/** A change to the run context that a tool requests in its result. */
export interface Effect {
    /** The key of the run context. The tool must declare it in `effectKeys`. */
    readonly key: string;
    /** How `value` is combined with the existing value. Default: `replace`. */
    readonly operation?: EffectOperation | undefined;
    /** A JSON value. */
    readonly value: unknown;
}
/** The model tokens that a call used. A missing property is 0. */
export interface Usage {
    /** Input tokens. */
    readonly inputTokens?: number;
    /** Output tokens. */
    readonly outputTokens?: number;
    /** The input tokens that the cache of the provider supplied. */
    readonly cacheReadTokens?: number;
    /** The tokens that the call added to the cache of the provider. */
    readonly cacheWriteTokens?: number;
}
/** The argument of `result`. */
export interface ResultInit {
    /** The blocks, in order. A string is a block of text. Default: none. */
    content?: string | Content | readonly (string | Content)[];
    /** Whether the tool reports a failure. The effects of such a result are discarded. */
    isError?: boolean;
    /** Changes to the run context. */
    effects?: readonly Effect[];
    /** The model tokens that the call used. */
    usage?: Usage | undefined;
    /** The cost of the call, in the unit of `costPerUse`. 0 means `costPerUse` itself. */
    cost?: number;
    /** Further JSON values by key. */
    metadata?: Readonly<Record<string, unknown>>;
    /** How long the tool ran. toolhost sets it and ignores what a tool sets. */
    durationMs?: number;
}
/** The result of a call, which the model reads. */
export declare class Result {
    /** The blocks, in order. */
    readonly content: readonly Content[];
    /** Whether the tool reports a failure. */
    readonly isError: boolean;
    /** Changes to the run context. */
    readonly effects: readonly Effect[];
    /** The model tokens that the call used. Undefined if it used none. */
    readonly usage: Usage | undefined;
    /** The cost of the call. 0 means the declared cost per use. */
    readonly cost: number;
    /** Further JSON values by key. Keys that begin with `toolhost.` are reserved. */
    readonly metadata: Readonly<Record<string, unknown>>;
    /** How long the tool ran, in milliseconds. */
    readonly durationMs: number;
    /** Use `result`. */
    constructor(init: ResultInit);
    /** All blocks as text. An image, file or artifact becomes a line that describes it. */
    get text(): string;
    /**
     * The value of the only JSON block. Throws a TypeError if the result does not have exactly one
     * JSON block.
     */
    get value(): unknown;
}
/** Returns a result, for tools that return several blocks, effects, a cost or metadata. */
export declare function result(init: ResultInit): Result;
/** Returns a block of plain text or Markdown. */
export declare function text(content: string): TextContent;
/** Returns a block of one JSON value. Throws if JSON cannot represent the value. */
export declare function json(value: unknown): JSONContent;
/** The properties of an image or file. */
export interface BlobOptions {
    /** The IANA media type. Default: image/png for an image, application/octet-stream for a file. */
    readonly mediaType?: string;
    /** A file name without folders. Default: empty. */
    readonly name?: string;
}
/** Returns an image. Throws a TypeError for an invalid media type. */
export declare function image(data: Uint8Array, options?: BlobOptions): BlobContent;
/** Returns a file. Throws a TypeError for an invalid media type. */
export declare function file(data: Uint8Array, options?: BlobOptions): BlobContent;
/** Returns an image or file without validating it, because toolhost sent it. */
export declare function blob(kind: "image" | "file", mediaType: string, name: string, data: Uint8Array): BlobContent;
/** Returns a block that passes an artifact on by its handle. */
export declare function artifact(init: Partial<ArtifactContent> & {
    handle: string;
}): ArtifactContent;
/** Returns a block of JSON text without validating the text. */
export declare function jsonText(encoded: string): JSONContent;
/** Reports whether one of the functions of this module created a value. */
export declare function isContent(value: unknown): value is Content;
/**
 * Converts the return value of a tool to a result. What JSON cannot represent becomes text, and
 * warn gets a message that names it. Throws for a list of blocks that holds other values.
 */
export declare function resultOf(value: unknown, warn?: (message: string) => void): Result;
