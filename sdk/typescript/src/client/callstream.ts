/** One Connect stream on the caller's side: its calls by their numbers, and what becomes of them when it ends. */
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { ClientDuplexStream, Metadata, MethodDefinition } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import {
  type CallEvent as CallEventMessage,
  ConnectRequestSchema,
  type ConnectResponse,
  ConnectResponseSchema,
  ToolService,
} from "../gen/toolhost/v1/tool_service_pb.js";
import { asBuffer, methodDefinition } from "../wire/rpc.js";
import { sayable, unanswered } from "./failure.js";
import type { Link } from "./link.js";
import { fieldBytes, Gatherer, sayingMore, saysMore } from "./more.js";

/** How long a stream without calls stays open. An open one keeps the process alive; to open another takes less than a call. */
const idleMs = 200;
/** The most calls that toolhost takes on one stream. */
const maxCalls = 4096;
/** The greatest number of a call. */
const maxNumber = 2 ** 32 - 1;

/** A frame of the caller, without the call's number. */
export type Frame = NonNullable<MessageInitShape<typeof ConnectRequestSchema>["frame"]>;

/** A frame that has come, and how it was encoded, which is what it costs. */
interface Arrived {
  readonly message: ConnectResponse;
  readonly bytes: Uint8Array;
}

/** A call on a stream. */
export interface StreamedCall {
  /** Takes an event that cost so many bytes. One that is `ended` is the last, and costs nothing. */
  take(event: CallEventMessage, cost: number): void;
  /** Is told that no event will come any more. `lost` says that what was sent may have been executed. */
  lose(failure: ToolhostError, lost: boolean): void;
}

// A frame is encoded before gRPC gets it, because one that is too large would end the stream, and with it all calls.
const connect: MethodDefinition<Uint8Array, Arrived> = {
  ...methodDefinition(ToolService.method.connect),
  requestSerialize: asBuffer,
  responseDeserialize: (bytes: Buffer) => ({ message: fromBinary(ConnectResponseSchema, bytes), bytes }),
} as never;

/** The calls of a client, on one stream. It opens at once and ends with its client, by itself when it is idle, or by a failure. */
export class CallStream {
  /** Settles when the stream is open; rejects with a ToolhostError if it cannot be opened. */
  readonly ready: Promise<void>;
  readonly #link: Link;
  readonly #limit: number;
  readonly #calls = new Map<number, StreamedCall>(); // that have not ended
  #idle: NodeJS.Timeout | undefined; // runs once the stream is open, and anew when a call has ended
  readonly #out = new Gatherer(ConnectRequestSchema.field, (message) => {
    if (this.#stream?.writable) {
      this.#stream.write(message);
    }
  });
  #stream: ClientDuplexStream<Uint8Array, Arrived> | undefined;
  #release: (error: unknown) => void = () => {};
  #drained: Promise<void> | undefined;
  #last = 0; // number given to a call
  #heard = false; // toolhost has said something
  #over = false;

  /** `limit` is how many bytes a frame may have. */
  constructor(link: Link, limit: number) {
    this.#link = link;
    this.#limit = limit;
    this.ready = this.#open();
    this.ready.catch(() => {
      this.#over = true;
    });
  }

  /** Whether the stream takes another call. */
  get free(): boolean {
    return !this.#over && this.#calls.size < maxCalls;
  }

  async #open(): Promise<void> {
    const connection = await this.#link.acquire();
    this.#release = (error) => this.#link.release(connection, error);
    const stream = this.#link.duplex(connection, connect, sayingMore());
    this.#stream = stream;
    this.#idle = setTimeout(() => this.#rest(), idleMs).unref();
    stream.on("metadata", (metadata: Metadata) => {
      this.#out.together = saysMore(metadata);
    });
    stream.on("data", (arrived: Arrived) => this.#read(arrived));
    stream.on("error", (error: unknown) => this.#end(error));
    stream.on("end", () => this.#end(undefined));
  }

  #read({ message, bytes }: Arrived): void {
    this.#heard = true;
    this.#out.read = message.ackToken;
    this.#take(message, bytes);
    if (message.batch.length > 0) {
      const encoded = fieldBytes(bytes, ConnectResponseSchema.field.batch.number);
      for (const [i, frame] of message.batch.entries()) {
        this.#take(frame, encoded[i] ?? bytes);
      }
    }
  }

  #take({ call: number, event }: ConnectResponse, bytes: Uint8Array): void {
    const call = this.#calls.get(number);
    if (!event || !call) {
      return; // of a call that has ended
    }
    if (event.event.case === "ended") {
      this.#calls.delete(number);
      this.#idle?.refresh();
      call.take(event, 0);
      return;
    }
    call.take(event, eventBytes(bytes));
  }

  /** A server that ends a stream in good order has answered every call that it read. */
  #end(error: unknown): void {
    if (this.#over && this.#calls.size === 0) {
      this.#free(error);
      return;
    }
    this.#over = true;
    const answered = error !== undefined && !unanswered(error) && !this.#link.closed;
    // What a server says instead of the first event is why it takes no calls.
    const lost = error !== undefined && !(answered && !this.#heard);
    const failure =
      error === undefined
        ? new ToolhostError("unavailable", "toolhost is shutting down; the call was not executed")
        : this.#link.failure(error);
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#free(error);
    for (const call of calls) {
      call.lose(failure, lost);
    }
  }

  #free(error: unknown): void {
    clearTimeout(this.#idle);
    this.#release(error);
    this.#release = () => {};
  }

  #rest(): void {
    if (this.#calls.size === 0 && !this.#over) {
      this.#over = true;
      this.#stream?.end();
    }
  }

  /** Gives a call its number, of which nothing may be sent before the stream is ready. */
  enter(call: StreamedCall): number {
    do {
      this.#last = (this.#last % maxNumber) + 1;
    } while (this.#calls.has(this.#last));
    this.#calls.set(this.#last, call);
    return this.#last;
  }

  /** Takes back a number of which nothing was sent. */
  leave(number: number): void {
    this.#calls.delete(number);
    this.#idle?.refresh();
  }

  /** Sends a frame of a call, unless that has ended. Throws a ToolhostError if it cannot be sent. */
  put(number: number, frame: Frame): void {
    if (!this.#calls.has(number)) {
      return;
    }
    const bytes = sayable(() => toBinary(ConnectRequestSchema, create(ConnectRequestSchema, { call: number, frame })));
    if (bytes.length > this.#limit) {
      const words = `what is sent with the call has ${bytes.length} bytes, and ${this.#limit} can be; give it a smaller context`;
      throw new ToolhostError("invalid_argument", words);
    }
    this.#out.put(bytes);
  }

  /** Settles when the stream takes more: at once, unless much waits to be sent. */
  room(): Promise<void> | undefined {
    const stream = this.#stream;
    if (!stream?.writableNeedDrain) {
      return undefined;
    }
    this.#drained ??= new Promise((resolve) => {
      const over = () => {
        this.#drained = undefined;
        stream.off("drain", over).off("close", over).off("error", over).off("end", over);
        resolve();
      };
      stream.on("drain", over).on("close", over).on("error", over).on("end", over);
    });
    return this.#drained;
  }
}

/** Returns how many bytes the event of a frame has, which is what it costs. */
function eventBytes(frame: Uint8Array): number {
  for (const reader = new BinaryReader(frame); reader.pos < reader.len; ) {
    const [field, wire] = reader.tag();
    if (field === ConnectResponseSchema.field.event.number) {
      return reader.uint32();
    }
    reader.skip(wire);
  }
  return 0;
}
