/** A client of agentd. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import {
  AgentService,
  type Completion,
  type DecisionSchema,
  type LimitsSchema,
  type PeopleSchema,
  type Run,
  type RunEvent,
  type RunFinished,
  type RunState,
  StartRunRequestSchema,
  type SystemToolsSchema,
  type ToolChoiceSchema,
  type WindowSchema,
} from "../gen/agentd/v1/agent_service_pb.js";
import { encodeJSONBytes } from "../json.js";
import { toValues } from "../wire/scalars.js";
import { findAddress, formatAddress } from "./address.js";
import { sayable } from "./failure.js";
import { Link } from "./link.js";

/** What one event of a run may have: whole responses and results, not cut in pieces. */
const maxRunEventBytes = 64 << 20;

/** A task for an agent. */
export interface RunOptions {
  /** What the user wants. */
  readonly prompt: string;
  /** The run's id: 1 to 64 of A-Z a-z 0-9 _ -. Default: agentd makes one. */
  readonly runId?: string;
  /** Instructions for the model before the conversation. Default: agentd's own. */
  readonly systemPrompt?: string;
  /** The session in which the run's tools are called. Default: the run's id. */
  readonly session?: string;
  /** The first values of the run's context, as JSON values by key. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Which tools the model is offered. Default: all. */
  readonly tools?: MessageInitShape<typeof ToolChoiceSchema>;
  /** The bounds of the run. Default: agentd's own. */
  readonly limits?: MessageInitShape<typeof LimitsSchema>;
  /** Whether somebody can be asked during the run. Default: agentd's own. */
  readonly people?: MessageInitShape<typeof PeopleSchema>;
  /** What kind of task it is: a name of `kinds` in agentd.yaml. Default: none in particular. */
  readonly kind?: string;
  /** When the run has ended well. Default: agentd's own choice. */
  readonly completion?: Completion;
  /** The W3C trace context of the run. */
  readonly traceparent?: string;
  /** How much the model can read at once. Default: agentd's own. */
  readonly window?: MessageInitShape<typeof WindowSchema>;
  /** Which of agentd's own tools the model is offered. Default: agentd's own choice. */
  readonly systemTools?: MessageInitShape<typeof SystemToolsSchema>;
  /** How many levels of sub-runs there may be. Default: agentd's own bound. */
  readonly subRuns?: number;
}

/** Who decides, and why. */
export interface Decided {
  /** Who decides, as the journal and toolhost's audit log name him. */
  readonly by?: string;
  /** Why, in words. */
  readonly reason?: string;
}

/** Selects runs. All that is set must match. */
export interface RunFilter {
  /** How many runs a page has; default: 50. */
  readonly pageSize?: number;
  /** Runs in one of these states; default: all. */
  readonly states?: RunState[];
  /** Only the sub-runs of this run. */
  readonly parentRunId?: string;
}

type DecisionInit = MessageInitShape<typeof DecisionSchema>;

/**
 * A client of one agentd. Runs and their events are told in the messages of agentd.v1, which `@toolhost/sdk/proto` has. All that
 * its methods throw is a ToolhostError. A client that is not closed does not keep the process from ending.
 */
export class Agentd {
  readonly #link: Link;

  /** Makes a client of the agentd at an address. Default: the environment's AGENTD_ADDR, else the default socket. */
  constructor(options: { address?: string } = {}) {
    this.#link = new Link(findAddress(options.address, "agentd"), "agentd", maxRunEventBytes);
  }

  /** The address of the agentd. */
  get address(): string {
    return formatAddress(this.#link.address);
  }

  /** Ends the connection. What is under way fails; runs go on. */
  close(): void {
    this.#link.close();
  }

  /**
   * Begins a run and returns its id at once. The same run id with the same prompt returns the run that exists. Kinds of
   * errors: invalid_argument; conflict if the id is taken by a run with another prompt.
   */
  async startRun(task: string | RunOptions): Promise<string> {
    const { context, ...rest } = typeof task === "string" ? { prompt: task } : task;
    const request = sayable(() => create(StartRunRequestSchema, { ...rest, context: toValues(context) }));
    const { runId } = await this.#link.unary(AgentService.method.startRun, request);
    return runId;
  }

  /**
   * Begins a run and follows it to its end. `show` is given every event; what it returns is waited for, so that it may
   * respond. The signal ends the waiting, not the run.
   */
  async run(
    task: string | RunOptions,
    options: { show?: (event: RunEvent, runId: string) => unknown; signal?: AbortSignal } = {},
  ): Promise<RunFinished> {
    const runId = await this.startRun(task);
    let finished: RunFinished | undefined;
    for await (const event of this.watchRun(runId, options)) {
      await options.show?.(event, runId);
      if (event.event.case === "runFinished") {
        finished = event.event.value;
      }
    }
    if (!finished) {
      throw new ToolhostError("internal", `agentd ended the watch of run ${runId} without its end`);
    }
    return finished;
  }

  /** Adds a user's message to a run and returns its place in the journal. Kinds of errors: not_found. */
  async sendMessage(runId: string, text: string): Promise<bigint> {
    return (await this.#link.unary(AgentService.method.sendMessage, { runId, text })).seq;
  }

  /**
   * Yields a run's events after the one with the number given (default: from the beginning), first those that the journal
   * holds, then new ones, until the run has finished. To go on after an error, watch again after the last durable event
   * that came. Leaving the loop ends the watch, not the run. Kinds of errors: not_found.
   */
  async *watchRun(runId: string, options: { afterSeq?: bigint; signal?: AbortSignal } = {}): AsyncGenerator<RunEvent> {
    const { afterSeq = 0n, signal } = options;
    for await (const { event } of this.#link.stream(AgentService.method.watchRun, { runId, afterSeq }, signal)) {
      if (event) {
        yield event;
      }
    }
  }

  /**
   * Makes decisions that a run waits for, all of them or none, and returns the place of the first in the journal. `getRun`
   * and the events `decisionRequested` say which are wanted. Kinds of errors: not_found if a decision is not wanted, also
   * not any more; invalid_argument if one does not fit what is asked.
   */
  async respond(runId: string, decisions: readonly DecisionInit[], by = ""): Promise<bigint> {
    return (await this.#link.unary(AgentService.method.respond, { runId, decisions: [...decisions], decidedBy: by })).seq;
  }

  /** Says yes to a decision; with arguments, the call is made with those. See `respond`. */
  async approve(
    runId: string,
    decisionId: string,
    said: Decided & { arguments?: Readonly<Record<string, unknown>> } = {},
  ): Promise<bigint> {
    const args = sayable(() => (said.arguments ? encodeJSONBytes(said.arguments) : new Uint8Array()));
    const value = { arguments: args, reason: said.reason ?? "" };
    return this.respond(runId, [{ decisionId, verdict: { case: "approve", value } }], said.by);
  }

  /** Says no to a decision; the model reads the reason. See `respond`. */
  reject(runId: string, decisionId: string, said: Decided = {}): Promise<bigint> {
    return this.respond(runId, [{ decisionId, verdict: { case: "reject", value: { reason: said.reason ?? "" } } }], said.by);
  }

  /** Answers a question. See `respond`. */
  answer(runId: string, decisionId: string, text: string, said: Pick<Decided, "by"> = {}): Promise<bigint> {
    return this.respond(runId, [{ decisionId, verdict: { case: "answer", value: { text } } }], said.by);
  }

  /** Stops a run; its last event tells the end. Kinds of errors: not_found. */
  async cancelRun(runId: string, reason = ""): Promise<void> {
    await this.#link.unary(AgentService.method.cancelRun, { runId, reason });
  }

  /** Returns a run's summary, and the decisions that it waits for. Kinds of errors: not_found. */
  async getRun(runId: string): Promise<Run> {
    const { run } = await this.#link.unary(AgentService.method.getRun, { runId });
    if (!run) {
      throw new ToolhostError("internal", "agentd sent no run");
    }
    return run;
  }

  /** Yields the runs that a filter selects, the newest first, and asks for the next page when the loop gets there. */
  async *listRuns(filter: RunFilter = {}): AsyncGenerator<Run> {
    for (let pageToken = ""; ; ) {
      const page = await this.#link.unary(AgentService.method.listRuns, { ...filter, pageToken });
      yield* page.runs;
      pageToken = page.nextPageToken;
      if (!pageToken) {
        return;
      }
    }
  }
}
