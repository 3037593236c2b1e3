import { Metadata } from "@grpc/grpc-js";
/** Returns metadata that announce that this side accepts batches. */
export declare function announceBatches(): Metadata;
/** Reports whether metadata announce that the other side accepts batches. */
export declare function acceptsBatches(metadata: Metadata): boolean;
/** The numbers of the fields that a message has in addition to its first frame. */
export interface Fields {
    /** The further frames of the batch. */
    readonly batch: {
        readonly number: number;
    };
    /** The ack token of the last message that the sender has read. */
    readonly ack: {
        readonly number: number;
    };
}
/**
 * Combines the encoded frames of one turn of the event loop to batches, if the other side accepts
 * batches.
 */
export declare class Gatherer {
    #private;
    /** Whether the other side accepts batches. */
    batches: boolean;
    /** The ack token of the last message that was read. The next message returns it. 0n: none. */
    ackToken: bigint;
    constructor(fields: Fields, write: (message: Uint8Array) => void);
    /** Sends a frame, after all earlier frames. */
    put(frame: Uint8Array): void;
}
/** Returns the encoded values of a field of an encoded message. */
export declare function fieldBytes(message: Uint8Array, wanted: number): Uint8Array[];
