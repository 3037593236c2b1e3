/** A call in a test. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Result, result } from "../content.js";
import type { ToolhostError } from "../error.js";
import type { StartCallSchema } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { LogRecord, Status } from "../status.js";
import type { TestOptions } from "./host.js";
import type { MemoryToolhost } from "./toolhost.js";

/** A call in a test. Its properties are complete once `ended` has settled. */
export class TestCall {
  /** The statuses that the tool reported, in order. */
  readonly statuses: Status[] = [];
  /** The records that the tool logged, in order. */
  readonly logs: LogRecord[] = [];
  /** Settles when the call has ended. It never rejects. */
  readonly ended: Promise<void>;
  /** The result of the tool. Undefined before the end, and if there is an error. */
  result: Result | undefined;
  /** The infrastructure error. Undefined before the end, and if the tool returned a result. */
  error: ToolhostError | undefined;
  readonly #toolhost: MemoryToolhost;
  readonly #number: number = 0;
  readonly #waiting = new Set<() => void>();
  #over = false;

  /**
   * Use TestHost. `refusal` is the message of toolhost for arguments that do not fit the schema.
   */
  constructor(
    toolhost: MemoryToolhost,
    start: MessageInitShape<typeof StartCallSchema>,
    options: TestOptions,
    refusal?: string,
  ) {
    this.#toolhost = toolhost;
    if (refusal !== undefined) {
      this.result = result({ content: refusal, isError: true });
      this.#over = true;
      this.ended = Promise.resolve();
      return;
    }
    const { signal, artifacts = {}, answer } = options;
    const heard = { statuses: this.statuses, logs: this.logs, news: () => this.#news() };
    const { number, ended } = toolhost.open(start, heard, artifacts, answer);
    this.#number = number;
    const cancel = () => this.cancel(signal?.reason instanceof Error ? signal.reason.message : "");
    if (signal?.aborted) {
      cancel();
    }
    signal?.addEventListener("abort", cancel, { once: true });
    this.ended = ended.then((outcome) => {
      signal?.removeEventListener("abort", cancel);
      this.result = outcome.result;
      this.error = outcome.error;
      this.#over = true;
      this.#news();
    });
  }

  /** The result as text. Empty before the end. Throws the error if there is one. */
  get text(): string {
    return this.#answered()?.text ?? "";
  }

  /** The value of the only JSON block. Throws the error if there is one. */
  get value(): unknown {
    return this.#answered()?.value;
  }

  /** Whether the tool reports a failure. */
  get isError(): boolean {
    return this.result?.isError ?? false;
  }

  /** Sends the next piece of argument text. */
  append(text: string | Uint8Array): void {
    this.#toolhost.send(this.#number, { case: "append", value: { text: Buffer.from(text as string) } });
  }

  /** Marks the arguments as complete. If `text` is given, it replaces the text that was sent. */
  complete(text = ""): void {
    this.#toolhost.send(this.#number, { case: "complete", value: { arguments: Buffer.from(text) } });
  }

  /** Requests cancellation of the call. */
  cancel(reason = ""): void {
    this.#toolhost.send(this.#number, { case: "cancel", value: { reason } });
  }

  /** Waits for a status for which `fits` returns true. Rejects if the call ends without one. */
  async status(fits: (status: Status) => boolean): Promise<Status> {
    for (;;) {
      const found = this.statuses.find(fits);
      if (found) {
        return found;
      }
      if (this.#over) {
        throw new Error("the call ended without that status");
      }
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  #answered(): Result | undefined {
    if (this.error) {
      throw this.error;
    }
    return this.result;
  }

  #news(): void {
    for (const go of this.#waiting) {
      this.#waiting.delete(go);
      go();
    }
  }
}
