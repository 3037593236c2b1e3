/** A call while it runs: what its tool knows, and what it says, kept in order. */
import { inspect } from "node:util";
import { encodeJSON } from "../json.js";
import type { LogLevel, LogRecord, Status, StatusState } from "../status.js";
import { isTerminal } from "../status.js";
import { toLogRecord, toStatus } from "../wire/messages.js";
import { type Artifact, artifactOpener } from "./artifact.js";
import { type Call, type Logger, progressOf, sessionValues } from "./call.js";
import { logToStderr } from "./stdio.js";
import type { WireCall } from "./wirecall.js";

/** From how many bytes on that wait to be sent a tool that does not wait for them is heard no more, or only on standard error. */
const maxQueued = 1 << 20;
/** Only so large a backlog of progress is kept: what comes next says more. */
const maxQueuedProgress = 64 << 10;

const ranks: Readonly<Record<StatusState, number>> = { wait: 1, doing: 2, success: 3, error: 3 };

/** The Call that a tool is given. */
export class RunningCall implements Call {
  readonly id: string;
  readonly tool: string;
  readonly attempt: number;
  readonly session: string;
  readonly workspace: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly traceparent: string;
  readonly log: Logger;
  argumentsText = "";
  readonly #wire: WireCall;
  readonly #open: (handle: string) => Promise<Artifact>;
  #phase: StatusState = "wait"; // what a status without a state means now
  #state: StatusState | undefined; // the last that was sent
  #finished = false;

  constructor(wire: WireCall, contextKeys: readonly string[]) {
    const { callId, tool, attempt, context } = wire.start;
    this.id = callId;
    this.tool = tool;
    this.attempt = Math.max(1, attempt);
    this.session = context?.session ?? "";
    this.workspace = context?.workspace ?? "";
    this.values = sessionValues(context?.values ?? {}, contextKeys);
    this.secrets = Object.assign(Object.create(null), context?.secrets);
    this.traceparent = context?.traceparent ?? "";
    this.#wire = wire;
    this.#open = artifactOpener(wire);
    const line = (level: LogLevel): Logger[LogLevel] => {
      return (message, attributes = {}) => this.#write({ time: new Date(), level, message: String(message), attributes });
    };
    this.log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  }

  get deadline(): Date | undefined {
    return this.#wire.deadline;
  }

  get signal(): AbortSignal {
    return this.#wire.signal;
  }

  openArtifact(handle: string): Promise<Artifact> {
    return this.#open(handle);
  }

  async status(status: Status): Promise<void> {
    if (!this.#finished && !this.signal.aborted) {
      await this.#send(status, false);
    }
  }

  async progress(done: number, total?: number, message?: string): Promise<void> {
    await this.status({ progress: progressOf(done, total, message) });
  }

  /** Notes that previews are over. */
  execute(): void {
    this.#phase = "doing";
    if (this.#state === "wait") {
      void this.#send({ state: "doing" }, false);
    }
  }

  /** Ends what the tool has shown with a terminal state, refuses what comes later, and waits until it is sent. */
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
      state = undefined; // a state never goes back
    }
    const onlyProgress =
      !state && status.progress && status.tip === undefined && !status.parameters && status.result === undefined;
    if (onlyProgress && this.#wire.queued > maxQueuedProgress) {
      return;
    }
    try {
      const value = toStatus({ ...status, state });
      this.#state = state ?? this.#state;
      await this.#wire.send({ case: "status", value }, late);
    } catch (error) {
      // Nobody is there to see it any more, which is no concern of the tool's, or it cannot be said, which is.
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

/** Returns attributes that JSON can say: errors as their stack, what has no JSON form as text. */
function loggable(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const said: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(attributes)) {
    said[key] = value instanceof Error ? (value.stack ?? String(value)) : value;
    try {
      encodeJSON(said[key]);
    } catch {
      said[key] = inspect(value);
    }
  }
  return said;
}
