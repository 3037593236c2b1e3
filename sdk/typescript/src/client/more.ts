/** Frames that travel together as one message: what the contract calls `more`. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Metadata } from "@grpc/grpc-js";

/** The metadata by which an end says that it reads messages of more than one frame. */
const key = "toolhost-batch";
/** What such a message has at most, where more than one frame fits at all: enough to share its cost, and nothing to wait for. */
const togetherBytes = 32 << 10;

/** Returns metadata that say that messages of more than one frame are read. */
export function sayingMore(): Metadata {
  const metadata = new Metadata();
  metadata.set(key, "1");
  return metadata;
}

/** Reports whether metadata say so. */
export function saysMore(metadata: Metadata): boolean {
  const values = metadata.get(key);
  return values.length === 1 && values[0] === "1";
}

/** The numbers of the fields that a message has beside its own frame. */
export interface Fields {
  /** The frames that come after its own. */
  readonly batch: { readonly number: number };
  /** The mark of the last message that its sender has read. */
  readonly ack: { readonly number: number };
}

/** Gathers encoded frames, and sends those of one turn of the event loop together, if their reader reads that. */
export class Gatherer {
  /** Whether the reader has said that it reads messages of more than one frame. */
  together = false;
  /** The mark of the last message that was read, which the other end is told; 0n: none, or it had none. */
  read = 0n;
  readonly #fields: Fields;
  readonly #write: (message: Uint8Array) => void;
  #frames: Uint8Array[] = [];

  constructor(fields: Fields, write: (message: Uint8Array) => void) {
    this.#fields = fields;
    this.#write = write;
  }

  /** Sends a frame, after those that were put before. */
  put(frame: Uint8Array): void {
    if (!this.together && this.#frames.length === 0) {
      this.#write(this.#message(frame, []));
      return;
    }
    this.#frames.push(frame);
    if (this.#frames.length === 1) {
      process.nextTick(() => this.#flush());
    }
  }

  #flush(): void {
    const frames = this.#frames;
    this.#frames = [];
    for (let at = 0; at < frames.length; ) {
      const end = this.#end(frames, at);
      const [first, ...others] = frames.slice(at, end) as [Uint8Array, ...Uint8Array[]];
      this.#write(this.#message(first, others));
      at = end;
    }
  }

  #end(frames: readonly Uint8Array[], begin: number): number {
    let size = 0;
    let end = begin;
    do {
      size += frames[end]?.length ?? 0;
      end++;
    } while (end < frames.length && size + (frames[end]?.length ?? 0) <= togetherBytes);
    return end;
  }

  #message(first: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
    const { batch, ack } = this.#fields;
    const writer = new BinaryWriter().raw(first);
    for (const frame of others) {
      writer.tag(batch.number, WireType.LengthDelimited).bytes(frame);
    }
    return writer.tag(ack.number, WireType.Bit64).fixed64(this.read).finish();
  }
}

/** Returns the encoded values of a field of an encoded message. */
export function fieldBytes(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const reader = new BinaryReader(message); reader.pos < reader.len; ) {
    const [field, wire] = reader.tag();
    if (field === wanted && wire === WireType.LengthDelimited) {
      found.push(reader.bytes());
    } else {
      reader.skip(wire);
    }
  }
  return found;
}
