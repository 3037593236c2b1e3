/** Batches: several frames in one message, because each message has a high fixed cost. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Metadata } from "@grpc/grpc-js";
/** The metadata key by which a sender announces that it accepts batches. */
const key = "toolhost-batch";
/** The size of a batch in bytes. A larger frame is a message by itself. */
const batchBytes = 32 << 10;
/** Returns metadata that announce that this side accepts batches. */
export function announceBatches() {
    const metadata = new Metadata();
    metadata.set(key, "1");
    return metadata;
}
/** Reports whether metadata announce that the other side accepts batches. */
export function acceptsBatches(metadata) {
    const values = metadata.get(key);
    return values.length === 1 && values[0] === "1";
}
/**
 * Combines the encoded frames of one turn of the event loop to batches, if the other side accepts
 * batches.
 */
export class Gatherer {
    /** Whether the other side accepts batches. */
    batches = false;
    /** The ack token of the last message that was read. The next message returns it. 0n: none. */
    ackToken = 0n;
    #fields;
    #write;
    #frames = [];
    constructor(fields, write) {
        this.#fields = fields;
        this.#write = write;
    }
    /** Sends a frame, after all earlier frames. */
    put(frame) {
        if (!this.batches && this.#frames.length === 0) {
            this.#write(this.#message(frame, []));
            return;
        }
        this.#frames.push(frame);
        if (this.#frames.length === 1) {
            process.nextTick(() => this.#flush());
        }
    }
    #flush() {
        const frames = this.#frames;
        this.#frames = [];
        for (let at = 0; at < frames.length;) {
            const end = this.#end(frames, at);
            const [first, ...others] = frames.slice(at, end);
            this.#write(this.#message(first, others));
            at = end;
        }
    }
    #end(frames, begin) {
        let size = 0;
        let end = begin;
        do {
            size += frames[end]?.length ?? 0;
            end++;
        } while (end < frames.length && size + (frames[end]?.length ?? 0) <= batchBytes);
        return end;
    }
    #message(first, others) {
        const { batch, ack } = this.#fields;
        const writer = new BinaryWriter().raw(first);
        for (const frame of others) {
            writer.tag(batch.number, WireType.LengthDelimited).bytes(frame);
        }
        return writer.tag(ack.number, WireType.Bit64).fixed64(this.ackToken).finish();
    }
}
/** Returns the encoded values of a field of an encoded message. */
export function fieldBytes(message, wanted) {
    const found = [];
    for (const reader = new BinaryReader(message); reader.pos < reader.len;) {
        const [field, wire] = reader.tag();
        if (field === wanted && wire === WireType.LengthDelimited) {
            found.push(reader.bytes());
        }
        else {
            reader.skip(wire);
        }
    }
    return found;
}
