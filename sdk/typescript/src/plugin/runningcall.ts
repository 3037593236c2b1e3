/**
 * The implementation of Call: the data of a running call, and the order of its statuses and log
 * records.
 */
import { inspect } from "node:util";
import { ToolhostError } from "../error.js";
import { encodeJSON } from "../json.js";
import type { ModelAnswer, ModelQuestion, PersonAnswer, PersonQuestion, QuestionKind } from "../question.js";
import type { LogLevel, LogRecord, Status, StatusState } from "../status.js";
import { isTerminal } from "../status.js";
import { toLogRecord, toStatus } from "../wire/messages.js";
import { fromAnswer, fromKinds, toModelQuestion, toPersonQuestion } from "../wire/questions.js";
import { type Artifact, artifactOpener } from "./artifact.js";
import { type Call, type Logger, progressOf, sessionContext } from "./call.js";
import { logToStderr } from "./stdio.js";
import type { WireCall } from "./wirecall.js";

/**
 * The bytes waiting to be sent from which on statuses are dropped and log records go to standard
 * error.
 */
const maxQueued = 1 << 20;
/**
 * The bytes waiting to be sent from which on progress is dropped, because the next report
 * supersedes it.
 */
const maxQueuedProgress = 64 << 10;

const ranks: Readonly<Record<StatusState, number>> = { wait: 1, doing: 2, success: 3, error: 3 };

/** The Call that a tool receives. */
export class RunningCall implements Call {
  readonly id: string;
  readonly effectKey: string;
  readonly tool: string;
  readonly attempt: number;
  readonly session: string | undefined;
  readonly workspace: string | undefined;
  readonly context: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly traceparent: string | undefined;
  readonly log: Logger;
  argumentsText = "";
  readonly #wire: WireCall;
  readonly #open: (handle: string) => Promise<Artifact>;
  #phase: StatusState = "wait"; // the state of a first status without a state
  #state: StatusState | undefined; // the last state that was sent
  #finished = false;

  constructor(wire: WireCall, contextKeys: readonly string[]) {
    const { callId, effectKey, tool, attempt, context } = wire.start;
    this.id = callId;
    this.effectKey = effectKey || callId;
    this.tool = tool;
    this.attempt = Math.max(1, attempt);
    this.session = context?.session || undefined;
    this.workspace = context?.workspace || undefined;
    this.context = sessionContext(context?.values ?? {}, contextKeys);
    this.secrets = Object.assign(Object.create(null), context?.secrets);
    this.traceparent = context?.traceparent || undefined;
    this.#wire = wire;
    this.#open = artifactOpener(wire);
    const line = (level: LogLevel): Logger[LogLevel] => {
      return (message, attributes = {}) => {
        void this.#write({ time: new Date(), level, message: String(message), attributes });
      };
    };
    this.log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  }

  get deadline(): Date | undefined {
    return this.#wire.deadline;
  }

  get signal(): AbortSignal {
    return this.#wire.signal;
  }

  async openArtifact(handle: string): Promise<Artifact> {
    if (this.#wire.start.settle) {
      throw new ToolhostError("unsupported", "a check of an unknown outcome cannot open artifacts");
    }
    return this.#open(handle);
  }

  async ask(question: PersonQuestion): Promise<PersonAnswer> {
    this.#mayAsk("person");
    const value = toPersonQuestion(question);
    const answer = fromAnswer(
      await this.#wire.question((number) => ({ case: "askPerson", value: { number, question: value } })),
    );
    if (!("action" in answer)) {
      throw new ToolhostError("internal", "toolhost did not send the answer of a person");
    }
    return answer;
  }

  async complete(question: ModelQuestion): Promise<ModelAnswer> {
    this.#mayAsk("model");
    const value = toModelQuestion(question);
    const answer = fromAnswer(
      await this.#wire.question((number) => ({ case: "askModel", value: { number, question: value } })),
    );
    if ("action" in answer) {
      throw new ToolhostError("internal", "toolhost did not send the response of a model");
    }
    return answer;
  }

  #mayAsk(kind: QuestionKind): void {
    if (this.#wire.start.settle) {
      throw new ToolhostError("unsupported", "a check of an unknown outcome cannot ask");
    }
    if (!fromKinds(this.#wire.start.context?.answers).includes(kind)) {
      const why = "the caller does not answer such questions, or the operator does not permit them";
      throw new ToolhostError("unsupported", `no ${kind} can be asked in this call: ${why}`);
    }
  }

  status(status: Status): void {
    if (!this.#finished && !this.signal.aborted && !this.#wire.start.settle) {
      void this.#send(status, false);
    }
  }

  progress(done: number, total?: number, message?: string): void {
    this.status({ progress: progressOf(done, total, message) });
  }

  async flush(): Promise<void> {
    await this.#wire.drained();
  }

  /** Records the end of the previews. */
  execute(): void {
    this.#phase = "doing";
    if (this.#state === "wait") {
      void this.#send({ state: "doing" }, false);
    }
  }

  /**
   * Sends a terminal state if the tool has reported a status, rejects later reports, and waits
   * until all is sent.
   */
  async finish(ok: boolean): Promise<void> {
    this.#finished = true;
    if (this.#state && !isTerminal(this.#state)) {
      await this.#send({ state: ok ? "success" : "error" }, true);
    }
    await this.#wire.drained();
  }

  async #send(status: Status, late: boolean): Promise<void> {
    if (isTerminal(this.#state)) {
      return;
    }
    let { state } = status;
    if (!state && !this.#state) {
      state = this.#phase;
    }
    if (state && this.#state && ranks[state] < ranks[this.#state]) {
      state = undefined; // a state must not go back
    }
    const onlyProgress =
      !state && status.progress && status.message === undefined && !status.parameters && status.result === undefined;
    if (!late && this.#wire.queued > (onlyProgress ? maxQueuedProgress : maxQueued)) {
      return;
    }
    try {
      const value = toStatus({ ...status, state });
      this.#state = state ?? this.#state;
      await this.#wire.send({ case: "status", value }, late);
    } catch (error) {
      // After a cancellation no process reads the status. Otherwise the status itself cannot be
      // encoded.
      if (!this.signal.aborted) {
        logToStderr("warn", "a status was not sent", { call_id: this.id, error });
      }
    }
  }

  async #write(record: LogRecord): Promise<void> {
    const attributes = loggable(record.attributes);
    const fallback = () => logToStderr(record.level, record.message, { call_id: this.id, ...attributes });
    if (this.#finished || this.signal.aborted || this.#wire.queued > maxQueued) {
      fallback();
      return;
    }
    await this.#wire.send({ case: "log", value: toLogRecord({ ...record, attributes }) }).catch(fallback);
  }
}

/**
 * Converts attributes to JSON values: an error becomes its stack, and a value without a JSON form
 * becomes text.
 */
function loggable(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const converted: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(attributes)) {
    converted[key] = value instanceof Error ? (value.stack ?? String(value)) : value;
    try {
      encodeJSON(converted[key]);
    } catch {
      converted[key] = inspect(value);
    }
  }
  return converted;
}
