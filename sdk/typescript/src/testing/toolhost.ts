/** The toolhost side of the plugin protocol, in memory. */
import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { Content, Result } from "../content.js";
import { ToolhostError } from "../error.js";
import {
  type CallEnd,
  ConnectRequestSchema,
  type ConnectResponse,
  ConnectResponseSchema,
  type ReadArtifact,
  type StartCallSchema,
} from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { ErrorKind } from "../gen/toolhost/tool/v1/error_pb.js";
import { ModelQuestionSchema, PersonQuestionSchema } from "../gen/toolhost/tool/v1/question_pb.js";
import type { Plugin } from "../plugin/plugin.js";
import { CallStream } from "../plugin/stream.js";
import type { Settlement } from "../settlement.js";
import type { LogRecord, Status } from "../status.js";
import { Pieces } from "../wire/chunks.js";
import { fromError, fromLogRecord, fromResult, fromStatus } from "../wire/messages.js";
import { fromModelQuestion, fromPersonQuestion, toAnswer } from "../wire/questions.js";
import { fromSettlement } from "../wire/settlements.js";
import type { Answerer } from "./host.js";

/** The credit of a call. It is small, so that tests detect code that ignores flow control. */
const windowBytes = 64 << 10;
/** The largest piece of an artifact. */
const artifactBytes = 64 << 10;

type Frame = NonNullable<MessageInitShape<typeof ConnectRequestSchema>["frame"]>;

/** The reports of a running call. */
export interface Heard {
  readonly statuses: Status[];
  readonly logs: LogRecord[];
  /** Runs after each status and record. */
  news(): void;
}

/** The end of a call. */
export interface Ended {
  readonly result: Result | undefined;
  readonly error: ToolhostError | undefined;
  readonly settlement?: Settlement;
}

interface Open {
  readonly heard: Heard;
  readonly artifacts: Readonly<Record<string, Content>>;
  readonly answer: Answerer | undefined;
  readonly pieces: Pieces;
  readonly end: (ended: Ended) => void;
}

/** Runs the calls of one plugin. */
export class MemoryToolhost {
  readonly #stream: CallStream;
  readonly #calls = new Map<number, Open>();
  #last = 0;

  constructor(plugin: Plugin) {
    this.#stream = new CallStream(plugin, async (bytes) => this.#take(bytes));
  }

  /** Starts a call, and returns its number and its end. */
  open(
    start: MessageInitShape<typeof StartCallSchema>,
    heard: Heard,
    artifacts: Readonly<Record<string, Content>>,
    answer: Answerer | undefined,
  ): { number: number; ended: Promise<Ended> } {
    const number = ++this.#last;
    const ended = new Promise<Ended>((end) => {
      this.#calls.set(number, { heard, artifacts, answer, pieces: new Pieces(), end });
    });
    this.send(number, { case: "start", value: { ...start, credit: windowBytes } });
    return { number, ended };
  }

  /** Sends a frame of a call. */
  send(number: number, frame: Frame): void {
    this.#stream.take(create(ConnectRequestSchema, { call: number, frame }));
  }

  /** Cancels all calls and waits for them. */
  close(): Promise<void> {
    return this.#stream.close();
  }

  #take(bytes: Uint8Array): void {
    const { call: number, frame } = fromBinary(ConnectResponseSchema, bytes.slice());
    const open = this.#calls.get(number);
    if (!open) {
      return;
    }
    switch (frame.case) {
      case "status":
        open.heard.statuses.push(fromStatus(frame.value));
        open.heard.news();
        break;
      case "progress": {
        const { done, total, message } = frame.value;
        open.heard.statuses.push({ progress: { done, total, message } });
        open.heard.news();
        break;
      }
      case "log":
        open.heard.logs.push(fromLogRecord(frame.value));
        open.heard.news();
        break;
      case "chunk":
        open.pieces.add(frame.value);
        break;
      case "readArtifact":
        this.#answer(number, open, frame.value);
        break;
      case "askPerson":
      case "askModel":
        void this.#reply(number, open, frame);
        break;
      case "end":
        this.#calls.delete(number);
        open.end(endOf(frame.value, open.pieces));
        return;
    }
    // A toolhost also grants credit later, so code must not depend on an immediate grant.
    setImmediate(() => this.send(number, { case: "credit", value: { bytes: bytes.length } }));
  }

  async #reply(
    number: number,
    { answer }: Open,
    frame: Extract<ConnectResponse["frame"], { case: "askPerson" | "askModel" }>,
  ): Promise<void> {
    const question =
      frame.case === "askPerson"
        ? { person: fromPersonQuestion(frame.value.question ?? create(PersonQuestionSchema)) }
        : { model: fromModelQuestion(frame.value.question ?? create(ModelQuestionSchema)) };
    const unsupported = { error: new ToolhostError("unsupported", "the test answers no questions") };
    const given = answer ? await answer(question) : unsupported;
    this.send(number, { case: "answer", value: { number: frame.value.number, answer: toAnswer(given) } });
  }

  #answer(number: number, { artifacts }: Open, { handle, offset, limit }: ReadArtifact): void {
    const content = Object.hasOwn(artifacts, handle) ? artifacts[handle] : undefined;
    const reply = (value: Extract<Frame, { case: "artifact" }>["value"]) => {
      setImmediate(() => this.send(number, { case: "artifact", value }));
    };
    if (!content || content.kind === "artifact") {
      const message = `there is no artifact ${JSON.stringify(handle)} in this session`;
      reply({ error: { kind: ErrorKind.NOT_FOUND, message } });
      return;
    }
    const whole = bytesOf(content);
    const from = Math.min(Number(offset), whole.data.length);
    const size = limit === 0 || limit > artifactBytes ? artifactBytes : limit;
    reply({ ...whole, data: whole.data.subarray(from, from + size), size: BigInt(whole.data.length) });
  }
}

function bytesOf(content: Exclude<Content, { kind: "artifact" }>) {
  switch (content.kind) {
    case "text":
      return { data: Buffer.from(content.text), mediaType: "text/plain", name: "" };
    case "json":
      return { data: Buffer.from(content.json), mediaType: "application/json", name: "" };
    default:
      return { data: content.data, mediaType: content.mediaType, name: content.name };
  }
}

function endOf({ outcome }: CallEnd, pieces: Pieces): Ended {
  if (outcome.case === "error") {
    return { result: undefined, error: fromError(outcome.value) };
  }
  if (outcome.case === "settlement") {
    return { result: undefined, error: undefined, settlement: fromSettlement(outcome.value) };
  }
  if (outcome.case !== "result") {
    return { result: undefined, error: new ToolhostError("internal", "the call ended without an outcome") };
  }
  pieces.join(outcome.value.content);
  return { result: fromResult(outcome.value), error: undefined };
}
