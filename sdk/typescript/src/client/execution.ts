/** One call of toolhost, as its caller holds it. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import type { CallEvent as CallEventMessage, CallOptionsSchema } from "../gen/toolhost/v1/tool_service_pb.js";
import type { CallStream, Frame, StreamedCall } from "./callstream.js";
import { type CallEvent, type EndedEvent, EventReader, type Outcome } from "./events.js";
import { failureOf } from "./failure.js";
import { Inbox, windowBytes } from "./inbox.js";
import { abortFailure, heeding } from "./link.js";

/** The most that one piece of argument text holds. */
const pieceBytes = 64 << 10;
/** How long a caller that stops waiting waits for the end of its call: most tools stop at once, and then toolhost says what was done. */
const cancelGraceMs = 1_000;

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
  readonly #stream: CallStream;
  readonly #opening: Opening;
  readonly #opened: Promise<void>;
  readonly #events = new EventReader();
  readonly #inbox = new Inbox<CallEventMessage | EndedEvent>((bytes) => this.#put({ case: "credit", value: { bytes } }));
  readonly #read: Promise<EndedEvent | undefined>; // settles when the reader is done
  #readerDone: (ended: EndedEvent | undefined) => void = () => {};
  readonly #number: number;
  #sent = false; // toolhost knows the number
  #complete = false; // toolhost may have all arguments, and so may have executed the call
  #callId: string;
  #over = false; // its end has come, read or not
  #reading = false;
  #ended: EndedEvent | undefined; // as it was read
  #grace: NodeJS.Timeout | undefined;

  /** Use Toolhost.execute. */
  constructor(stream: CallStream, opening: Opening, whole: Uint8Array | undefined) {
    this.#stream = stream;
    this.#opening = opening;
    this.#callId = opening.options.callId ?? "";
    this.#read = new Promise((resolve) => {
      this.#readerDone = resolve;
    });
    this.#number = stream.enter(this.#streamed);
    this.#opened = this.#open(whole).catch((error: unknown) => {
      if (!this.#sent) {
        stream.leave(this.#number);
      }
      this.#finish(failureOf(error));
    });
  }

  async #open(whole: Uint8Array | undefined): Promise<void> {
    const { tool, options, signal } = this.#opening;
    await heeding(signal, this.#stream.ready);
    if (this.#over) {
      this.#stream.leave(this.#number); // it was abandoned meanwhile
      return;
    }
    signal?.addEventListener("abort", this.#abort, { once: true });
    // More than a window of arguments goes in pieces, so that it holds up no other call.
    const complete = whole !== undefined && whole.length <= windowBytes;
    this.#complete = complete;
    const text = complete ? whole : new Uint8Array();
    this.#stream.put(this.#number, { case: "start", value: { tool, arguments: text, complete, options } });
    this.#sent = true;
    if (whole && !complete) {
      await this.#append(whole);
      this.#finishArguments();
    }
  }

  /** What the stream says to the call. */
  readonly #streamed: StreamedCall = {
    take: (event, cost) => {
      if (event.event.case === "started") {
        this.#callId = event.event.value.callId;
      }
      if (event.event.case === "ended") {
        this.#end(event);
      } else {
        this.#inbox.put(event, cost);
      }
    },
    lose: (failure, lost) => this.#finish(lost ? this.#explain(failure) : failure),
  };

  #abort = (): void => {
    const { signal } = this.#opening;
    const failure = signal ? abortFailure(signal) : new ToolhostError("cancelled", "");
    this.#put({ case: "cancel", value: { reason: `the caller stopped waiting: ${failure.message}` } });
    this.#grace = setTimeout(() => {
      const advice = this.#callId
        ? `; watchCall with the id ${this.#callId} tells its end`
        : "; one with a callId can be watched";
      const words = `${failure.message}; the call was told to stop, and has not ended yet${this.#complete ? advice : ""}`;
      this.#finish(new ToolhostError(failure.kind, words, failure));
    }, cancelGraceMs).unref();
  };

  /** Sends more argument text, which may end anywhere. The promise settles when there is room for more. */
  async send(text: string | Uint8Array): Promise<void> {
    await this.#opened;
    await this.#append(typeof text === "string" ? Buffer.from(text) : text);
  }

  /** Says that the arguments are complete: toolhost validates them and executes the call. */
  async complete(): Promise<void> {
    await this.#opened;
    this.#finishArguments();
  }

  async #append(text: Uint8Array): Promise<void> {
    for (let at = 0; at < text.length && !this.#over; at += pieceBytes) {
      this.#put({ case: "append", value: { text: text.subarray(at, at + pieceBytes) } });
      await this.#stream.room();
    }
  }

  #finishArguments(): void {
    if (!this.#over) {
      this.#complete = true; // before the frame that says so, because from then on the call may be executed
      this.#put({ case: "complete", value: {} });
    }
  }

  /** Asks to stop the call. It still ends, usually with the error `cancelled`. */
  async cancel(reason = ""): Promise<void> {
    await this.#opened;
    this.#put({ case: "cancel", value: { reason } });
  }

  /** Whether the call has ended, so that it takes nothing more. */
  get over(): boolean {
    return this.#over;
  }

  /** Ends the call because its arguments cannot be had. */
  abandon(error: unknown): void {
    const { kind, message } = failureOf(error);
    const words = `the call's arguments could not be had, and it was not executed: ${message}`;
    this.#put({ case: "cancel", value: { reason: words } });
    this.#finish(new ToolhostError(kind, words, { cause: error }));
  }

  /** Reads to the end and returns what the tool answered. Throws a ToolhostError if the machinery failed. */
  async outcome(): Promise<Outcome> {
    if (!this.#reading) {
      for await (const _ of this) {
        // Whoever wants to see the events reads them himself.
      }
    }
    const ended = await this.#read;
    if (!ended) {
      const words = "the loop over the call's events was left before they ended; to know the outcome, read them to the end";
      throw new ToolhostError("cancelled", words, { callId: this.#callId });
    }
    const { callId, plugin, instance, replayed, result, error } = ended;
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
    if (this.#reading) {
      const words = "the call's events are read by another loop; read them in one, and wait for `outcome` elsewhere";
      throw new ToolhostError("invalid_argument", words, { callId: this.#callId });
    }
    this.#reading = true;
    try {
      while (!this.#ended) {
        const event = this.#eventOf(await this.#inbox.next());
        if (event?.type === "ended") {
          this.#ended = event;
          this.#readerDone(event);
        }
        if (event) {
          yield event;
        }
      }
    } finally {
      this.#leave();
    }
  }

  #eventOf(item: CallEventMessage | EndedEvent): CallEvent | undefined {
    if (!("$typeName" in item)) {
      return item;
    }
    const event = this.#events.read(item);
    const { signal } = this.#opening;
    if (event?.type === "ended" && signal?.aborted && event.error?.kind === "cancelled") {
      // It was this caller's time that was up.
      return { ...event, error: new ToolhostError(abortFailure(signal).kind, event.error.message, event.error) };
    }
    return event;
  }

  /** Lets go of a call whose reader has left. */
  #leave(): void {
    this.#readerDone(undefined); // where the end was not read
    if (this.#over) {
      return;
    }
    if (!this.#complete || !this.#opening.options.callId) {
      this.#put({ case: "cancel", value: { reason: "its caller is not interested any more" } });
    }
    this.#inbox.drop();
    this.#forget();
  }

  /** Ends the call with a failure that toolhost has not told. */
  #finish(failure: ToolhostError): void {
    this.#end({
      type: "ended",
      seq: 0,
      time: new Date(),
      callId: this.#callId,
      plugin: "",
      instance: "",
      replayed: false,
      result: undefined,
      error: new ToolhostError(failure.kind, failure.message, { ...failure, callId: this.#callId, cause: failure.cause }),
    });
  }

  #end(last: CallEventMessage | EndedEvent): void {
    this.#over = true;
    this.#inbox.finish(last);
    this.#forget();
  }

  #forget(): void {
    clearTimeout(this.#grace);
    this.#opening.signal?.removeEventListener("abort", this.#abort);
  }

  /** Says what a lost connection means for the call. */
  #explain(failure: ToolhostError): ToolhostError {
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

  #put(frame: Frame): void {
    if (this.#sent) {
      this.#stream.put(this.#number, frame);
    }
  }
}
