/** One call in a test. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Result, result } from "../content.js";
import type { ToolhostError } from "../error.js";
import type { StartCallSchema } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { LogRecord, Status } from "../status.js";
import type { TestOptions } from "./host.js";
import type { MemoryToolhost } from "./toolhost.js";

/** What a tool made of a call. It fills while the call runs, and is whole once `ended` has settled. */
export class TestCall {
  /** What the tool showed to people. */
  readonly statuses: Status[] = [];
  /** What it logged. */
  readonly logs: LogRecord[] = [];
  /** Settles when the call has ended; it never rejects. */
  readonly ended: Promise<void>;
  /** What the tool answered; undefined if the machinery failed, and before the end. */
  result: Result | undefined;
  /** Why the machinery failed; undefined if the tool answered, and before the end. */
  error: ToolhostError | undefined;
  readonly #toolhost: MemoryToolhost;
  readonly #number: number = 0;
  readonly #waiting = new Set<() => void>();
  #over = false;

  /** Use TestHost. `refusal` is what a toolhost tells the model in the tool's place. */
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
    const { signal, artifacts = {} } = options;
    const heard = { statuses: this.statuses, logs: this.logs, news: () => this.#news() };
    const { number, ended } = toolhost.open(start, heard, artifacts);
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

  /** All of the result as text; empty before the end. Throws the error if the machinery failed. */
  get text(): string {
    return this.#answered()?.text ?? "";
  }

  /** The value of the result's only JSON block, as Result has it. Throws the error if the machinery failed. */
  get value(): unknown {
    return this.#answered()?.value;
  }

  /** Whether the tool says that it failed. */
  get isError(): boolean {
    return this.result?.isError ?? false;
  }

  /** Sends more argument text. */
  append(text: string | Uint8Array): void {
    this.#toolhost.send(this.#number, { case: "append", value: { text: Buffer.from(text as string) } });
  }

  /** Says that the arguments are complete; text, if any, takes the place of what was sent before. */
  complete(text = ""): void {
    this.#toolhost.send(this.#number, { case: "complete", value: { arguments: Buffer.from(text) } });
  }

  /** Asks to stop the call. */
  cancel(reason = ""): void {
    this.#toolhost.send(this.#number, { case: "cancel", value: { reason } });
  }

  /** Waits until a status is there that fits. Rejects if the call ends without one. */
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
