/** One call of toolhost, as its caller holds it. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ClientDuplexStream } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import {
  type CallOptionsSchema,
  type ExecuteRequest,
  ExecuteRequestSchema,
  type ExecuteResponse,
  ToolService,
} from "../gen/toolhost/v1/tool_service_pb.js";
import { type CallEvent, type EndedEvent, EventReader, type Outcome } from "./events.js";
import { unanswered } from "./failure.js";
import { abortFailure, type Link } from "./link.js";

/** The most that one piece of argument text holds. */
const pieceBytes = 64 << 10;
/** The most argument text that goes whole. */
const wholeBytes = 256 << 10;
/** How long a caller that stops waiting waits for the end of its call: most tools stop at once, and then toolhost says what was done. */
const cancelGraceMs = 1_000;

type Connection = Awaited<ReturnType<Link["acquire"]>>;
type Stream = ClientDuplexStream<ExecuteRequest, ExecuteResponse>;
type Frame = NonNullable<MessageInitShape<typeof ExecuteRequestSchema>["frame"]>;

/** What opens a call. */
export interface Opening {
  readonly tool: string;
  readonly options: MessageInitShape<typeof CallOptionsSchema>;
  readonly signal: AbortSignal | undefined;
}

/**
 * A call under way. Its events are read once, by iterating over it or by `outcome`; what nobody reads is held back by
 * toolhost. Leaving the loop early cancels the call, unless it has a call id and its arguments are complete: then it goes
 * on, and its outcome can be had by the same id.
 */
export class Execution implements AsyncIterable<CallEvent> {
  readonly #link: Link;
  readonly #opening: Opening;
  readonly #reader = new EventReader();
  #connection: Connection | undefined;
  #stream: Stream | undefined;
  #opened: Promise<void>;
  #failure: unknown; // of the stream, or of bringing the arguments
  #complete = false; // toolhost may have all arguments, and so may have executed the call
  #callId: string;
  #ended: EndedEvent | undefined;
  #released = false;

  /** Use Toolhost.execute. */
  constructor(link: Link, opening: Opening, whole: Uint8Array | undefined) {
    this.#link = link;
    this.#opening = opening;
    this.#callId = opening.options.callId ?? "";
    this.#opened = this.#open(whole);
    this.#opened.catch(() => {}); // whoever reads is told
  }

  async #open(whole: Uint8Array | undefined): Promise<void> {
    const { tool, options, signal } = this.#opening;
    this.#connection = await this.#link.acquire(signal);
    if (signal?.aborted) {
      throw abortFailure(signal);
    }
    const stream = this.#link.duplex(this.#connection, ToolService.method.execute);
    this.#stream = stream;
    stream.on("error", (error: unknown) => {
      this.#failure ??= error;
    });
    signal?.addEventListener("abort", this.#abort, { once: true });
    const complete = whole !== undefined && whole.length <= wholeBytes;
    this.#complete = complete;
    const text = complete ? whole : new Uint8Array();
    await this.#write({ case: "start", value: { tool, arguments: text, complete, options } });
    if (whole && !complete) {
      await this.#append(whole);
      await this.#finish();
    }
  }

  #abort = (): void => {
    const words = this.#opening.signal ? abortFailure(this.#opening.signal).message : "";
    this.#put({ case: "cancel", value: { reason: `the caller stopped waiting: ${words}` } });
    setTimeout(() => this.#stream?.cancel(), cancelGraceMs).unref();
  };

  /** Sends more argument text, which may end anywhere. The promise settles when there is room for more. */
  async send(text: string | Uint8Array): Promise<void> {
    await this.#opened;
    await this.#append(typeof text === "string" ? Buffer.from(text) : text);
  }

  /** Says that the arguments are complete: toolhost validates them and executes the call. */
  async complete(): Promise<void> {
    await this.#opened;
    await this.#finish();
  }

  async #append(text: Uint8Array): Promise<void> {
    for (let at = 0; at < text.length; at += pieceBytes) {
      await this.#write({ case: "append", value: { text: text.subarray(at, at + pieceBytes) } });
    }
  }

  async #finish(): Promise<void> {
    this.#complete = true; // before the frame that says so, because from then on the call may be executed
    await this.#write({ case: "complete", value: {} });
  }

  /** Asks to stop the call. It still ends, usually with the error `cancelled`. */
  async cancel(reason = ""): Promise<void> {
    await this.#opened.catch(() => {});
    this.#put({ case: "cancel", value: { reason } });
  }

  /** Ends the call because its arguments cannot be had. */
  async abandon(error: unknown): Promise<void> {
    await this.#opened.catch(() => {});
    this.#failure ??= error;
    this.#stream?.cancel();
  }

  /** Reads to the end and returns what the tool answered. Throws a ToolhostError if the machinery failed. */
  async outcome(): Promise<Outcome> {
    for await (const _ of this) {
      // Whoever wants to see the events reads them himself.
    }
    const { callId = "", plugin = "", instance = "", replayed = false, result, error } = this.#ended ?? {};
    if (error) {
      throw error;
    }
    if (!result) {
      throw new ToolhostError("internal", "toolhost ended the call without an outcome", { callId });
    }
    return { callId, plugin, instance, replayed, result };
  }

  /** Yields what happens, to the end. What goes wrong between here and toolhost is an `ended` event, too. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CallEvent> {
    if (this.#ended) {
      return;
    }
    try {
      await this.#opened;
      for await (const { event: message } of this.#stream as AsyncIterable<ExecuteResponse>) {
        const event = message && this.#reader.read(message);
        if (event?.type === "started") {
          this.#callId = event.callId;
        }
        if (event?.type === "ended") {
          yield this.#finishWith(event);
          return;
        }
        if (event) {
          yield event;
        }
      }
      this.#failure ??= new ToolhostError("unavailable", "toolhost is shutting down; the call was not executed");
      yield this.#lost();
    } catch (error) {
      this.#failure ??= error;
      yield this.#lost();
    } finally {
      this.#release();
    }
  }

  #finishWith(event: EndedEvent): EndedEvent {
    const { signal } = this.#opening;
    let { error } = event;
    if (signal?.aborted && error?.kind === "cancelled") {
      // It was this caller's time that was up.
      error = new ToolhostError(abortFailure(signal).kind, error.message, error);
    }
    this.#ended = { ...event, error };
    return this.#ended;
  }

  /** The end of a call of which toolhost has said none. */
  #lost(): EndedEvent {
    const { signal } = this.#opening;
    const error = signal?.aborted ? abortFailure(signal) : this.#explain();
    this.#ended = {
      type: "ended",
      seq: 0,
      time: new Date(),
      callId: this.#callId,
      plugin: "",
      instance: "",
      replayed: false,
      result: undefined,
      error: new ToolhostError(error.kind, error.message, { ...error, callId: this.#callId, cause: error.cause }),
    };
    return this.#ended;
  }

  #explain(): ToolhostError {
    const failure = this.#link.failure(this.#failure);
    if (!unanswered(this.#failure) && !(this.#link.closed && this.#stream)) {
      return failure;
    }
    if (!this.#complete) {
      const words = `the connection was lost before the arguments were complete; the call was not executed (${failure.message})`;
      return new ToolhostError(failure.kind, words);
    }
    const advice = this.#opening.options.callId
      ? "the same call, sent again with the same call id, tells its outcome and is not executed twice"
      : "it had no call id by which its outcome could be had; give calls that change something an id";
    const words = `the connection was lost while the call ran, and it may have been executed; ${advice} (${failure.message})`;
    return new ToolhostError("outcome_unknown", words);
  }

  #release(): void {
    if (this.#released) {
      return;
    }
    this.#released = true;
    this.#opening.signal?.removeEventListener("abort", this.#abort);
    if (this.#ended) {
      this.#stream?.end();
    } else {
      this.#stream?.cancel();
    }
    if (this.#connection) {
      this.#link.release(this.#connection, this.#failure);
    }
  }

  #put(frame: Frame): boolean {
    const stream = this.#stream;
    if (!stream || stream.destroyed || stream.writableEnded || this.#released) {
      return true;
    }
    return stream.write(create(ExecuteRequestSchema, { frame }));
  }

  async #write(frame: Frame): Promise<void> {
    if (this.#put(frame)) {
      return;
    }
    const stream = this.#stream as Stream;
    await new Promise<void>((resolve) => {
      const over = () => {
        stream.off("drain", over).off("close", over).off("error", over).off("status", over);
        resolve();
      };
      stream.on("drain", over).on("close", over).on("error", over).on("status", over);
    });
  }
}
