import type { WireCall } from "./wirecall.js";
/**
 * A result of any tool that was too large to show. It never changes. It is read in pieces of 64
 * KiB, of which the last is cached. Iterating over it yields all pieces in order.
 */
export declare class Artifact implements AsyncIterable<Uint8Array> {
    #private;
    /** The IANA media type: text/plain for text, and application/json for JSON. */
    readonly mediaType: string;
    /** The size in bytes. */
    readonly size: number;
    /** A file name without folders. May be empty. */
    readonly name: string;
    /** Use `Call.openArtifact`. */
    constructor(read: Read, first: Piece);
    /**
     * Returns at most `length` bytes from an offset: fewer at the end of the artifact, and none
     * beyond it.
     */
    bytes(offset?: number, length?: number): Promise<Uint8Array>;
    /** Returns the whole artifact as text. */
    text(): Promise<string>;
    /** Yields the whole artifact in pieces. */
    [Symbol.asyncIterator](): AsyncGenerator<Uint8Array>;
}
/** A piece of an artifact. */
export interface Piece {
    readonly offset: number;
    readonly data: Uint8Array;
    readonly mediaType: string;
    readonly size: number;
    readonly name: string;
}
/** Reads a piece of the largest possible size from an offset. */
export type Read = (offset: number) => Promise<Piece>;
/**
 * Returns the implementation of `Call.openArtifact`. Requests run one after the other, because a
 * call may have only one open.
 */
export declare function artifactOpener(call: WireCall): (handle: string) => Promise<Artifact>;
