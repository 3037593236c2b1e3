/** Tools: their declarations and their code. */
import type { Content, Result } from "../content.js";
import type { Settlement } from "../settlement.js";
import type { InferInput, InferOutput, StandardSchema } from "../standard.js";
import type { Call, Session } from "./call.js";
import type { JSONSchema, Schema } from "./schema.js";

/**
 * The declaration of a tool. Limits, sandboxing and secrets are requests, which the operator may
 * restrict.
 */
export interface ToolSpec<S extends Schema = Schema, O extends Schema = Schema> {
  /**
   * 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter. Unique within one toolhost.
   */
  name: string;
  /** The purpose of the tool, when not to use it, and what it returns. The model reads it. */
  description: string;
  /** The schema of the arguments, of type object. Default: an object without properties. */
  input?: S;
  /**
   * The schema of the structured result, which the function must return. Default: no output schema.
   */
  output?: O;
  /** The version of the tool. Default: the version of the plugin. */
  version?: string;
  /** A name for people. Default: `name`. */
  displayName?: string;
  /** A word or path that groups tools, such as `files`. */
  category?: string;
  /** Tags by which callers select tools. Default: `defaultTags` of the plugin. */
  tags?: readonly string[];
  /** Example calls. */
  examples?: readonly InputExample[];
  /**
   * The longest duration of one call, in milliseconds. Default: 30 s; toolhost limits it to 10
   * minutes.
   */
  timeoutMs?: number;
  /** Whether each progress report restarts `timeoutMs`. */
  progressExtendsTimeout?: boolean;
  /** How toolhost repeats a failed call. Default: never. */
  retry?: RetryPolicy;
  /** The most calls that may start in 60 seconds, per session. Default: no limit. */
  rateLimitPerMinute?: number;
  /** The memory that the process of the tool needs, in bytes. Default: that of the operator. */
  memoryLimitBytes?: number;
  /** The cost of one call, in the unit of the operator. Default: 0, free. */
  costPerUse?: number;
  /** The names of the secrets that the tool needs; see `Call.secrets`. */
  requiresAuth?: readonly string[];
  /**
   * Requests to run outside the sandbox. Only the operator can grant this, and only for the whole
   * plugin, because the tools of a plugin share processes. Put such a tool into a separate plugin.
   */
  sandboxExempt?: boolean;
  /** Requests the incomplete arguments while the model still writes them; see `objectTool`. */
  partialArguments?: boolean;
  /** The tool can do harm, so a person should approve its calls. */
  dangerous?: boolean;
  /** The tool changes nothing outside itself. */
  readOnly?: boolean;
  /** Executing a call twice has the same effect as executing it once. */
  idempotent?: boolean;
  /** The tool must not run concurrently with other calls of the same response. */
  serial?: boolean;
  /**
   * The order of its effects with other calls of the same response does not matter. Without it, calls
   * that are not `readOnly` run one after the other.
   */
  parallel?: boolean;
  /**
   * `settle` seals: if it says `did_not_happen`, the execution has no effect later either, also if it
   * still runs where nobody can reach it. It ensures that with `call.effectKey` in the place where the
   * effect happens. Of several toolhosts that share a ledger, each may then ask it, also while the one
   * that had the call is silent.
   */
  seals?: boolean;
  /** The result is the answer for the user, and the model need not process it. */
  returnDirect?: boolean;
  /** toolhost must not repair or clamp the arguments, and must not insert defaults. */
  strict?: boolean;
  /**
   * The keys of the run context that the tool reads, such as `run` or `user`; see
   * `Session.context`.
   */
  contextKeys?: readonly string[];
  /**
   * The keys of the run context that effects of the tool may change. toolhost rejects effects on
   * other keys.
   */
  effectKeys?: readonly string[];
  /** Further JSON values by key. */
  metadata?: Readonly<Record<string, unknown>>;
  /**
   * Declares the tool for one session, which makes it a dynamic tool. It runs when tools are listed
   * and before each call, so it must be fast and have no side effects, and should return the same
   * result until something changes. The arguments of a call must fit the schema of its session. It
   * does not run without a session and context. If it throws or returns an invalid schema, the
   * plugin logs the error, and the declaration above applies.
   */
  describe?: (session: Session) => Variant | Promise<Variant>;
  /**
   * Says what became of an earlier call with these arguments whose outcome is unknown, because the
   * plugin or toolhost ended while it ran. `call` has the call id, the session, the workspace and the
   * secrets of that call. It must be fast and change nothing, and cannot report statuses, ask
   * questions or open artifacts. toolhost runs it only when the call no longer runs. If it throws or
   * is late, the outcome stays unknown. A tool that is `readOnly` must not have it.
   */
  settle?(input: Input<S>, call: Call): Settlement | Promise<Settlement>;
}

/** An example call. */
export interface InputExample {
  /** What the example demonstrates. */
  readonly description?: string;
  /** The arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * How often, and with which pauses, a failed call is repeated. toolhost repeats a call of a tool
 * only if it never started, or if the tool is `readOnly` or `idempotent`. `ClientOptions.retry`
 * says which calls a client repeats.
 */
export interface RetryPolicy {
  /** The number of attempts, including the first. */
  readonly maxAttempts: number;
  /**
   * The pause before the second attempt, in milliseconds. It doubles for each further attempt.
   * Default: 200.
   */
  readonly initialBackoffMs?: number;
  /** The longest pause, in milliseconds. Default: 5000. */
  readonly maxBackoffMs?: number;
}

/**
 * The declaration of a dynamic tool for one session. A missing property keeps the original
 * declaration.
 */
export interface Variant {
  /** A name for people. */
  readonly displayName?: string;
  /** The purpose of the tool. */
  readonly description?: string;
  /** The schema of the arguments. The function must accept all arguments that fit it. */
  readonly input?: Schema;
  /** The schema of the structured result. */
  readonly output?: Schema;
  /** Example calls. */
  readonly examples?: readonly InputExample[];
}

/**
 * The type of the arguments that a function receives: the output of its schema, or any object for a
 * JSON Schema.
 */
export type Input<S> = S extends StandardSchema ? InferOutput<S> : Record<string, unknown>;

/**
 * The type of incomplete arguments. Parts that have not arrived are missing, and nothing is
 * validated.
 */
export type SoFar<S> = S extends StandardSchema ? Partially<InferInput<S>> : Record<string, unknown>;

/** A value of which every part may be missing. */
export type Partially<T> = T extends readonly (infer E)[]
  ? Partially<E>[]
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> }
    : T;

/**
 * What a tool may return. If its output is a schema of a library, this is a value that fits the
 * schema, a block, a list of blocks or a result. Otherwise it is text, a block, a list of blocks, a
 * result, nothing, or any other value, which becomes one block of JSON.
 */
export type Output<O extends Schema = JSONSchema> = [O] extends [StandardSchema]
  ? InferInput<O> | Content | readonly (string | Content)[] | Result
  : unknown;

/** Handles one call; see `objectTool`. Its methods never run at the same time. */
export interface ToolObject<S extends Schema = Schema, O extends Schema = JSONSchema> {
  /** Runs once, with the complete arguments. */
  run(input: Input<S>): Output<O> | Promise<Output<O>>;
  /**
   * Receives the incomplete arguments, in which a string or a list may be cut off. It may report
   * statuses and must have no other side effects. Text that arrives while it runs is combined, and
   * it then runs once with the latest text. The signal is aborted when the arguments are complete.
   * It should then return, because `run` waits for it. The tool must declare `partialArguments`.
   */
  preview?(soFar: SoFar<S>, signal: AbortSignal): void | Promise<void>;
  /** Runs exactly once, at the end of every call. */
  close?(): void | Promise<void>;
}

/** A tool of a plugin. `tool` and `objectTool` create it. */
export interface Tool {
  /** The declaration. */
  readonly spec: Readonly<ToolSpec>;
  /** Whether the tool can receive previews, because `objectTool` created it. */
  readonly previews: boolean;
  /** Returns the object that handles a call. */
  readonly open: (call: Call) => ToolObject | Promise<ToolObject>;
}

/**
 * Returns a tool that runs a function.
 *
 * The model reads the return value. It also reads the message of an Error that the function throws,
 * with paths in the workspace made relative. For an Error other than ToolError it also reads the
 * type, and the log contains the stack. A ToolhostError is an infrastructure error, which the
 * caller handles.
 *
 * Calls run concurrently. The function should return or throw soon after `call.signal` is aborted.
 */
export function tool<const S extends Schema = Record<string, never>, const O extends Schema = JSONSchema>(
  spec: ToolSpec<S, O>,
  run: (input: Input<S>, call: Call) => Output<O> | Promise<Output<O>>,
): Tool {
  return {
    spec: spec as ToolSpec,
    previews: false,
    open: (call) => ({ run: (input) => run(input as Input<S>, call) }),
  };
}

/**
 * Returns a tool that has one object for each call. Use it for a tool that receives incomplete
 * arguments, or that must release something at the end of a call. `open` runs at the start of the
 * call, when the arguments may be incomplete.
 */
export function objectTool<const S extends Schema = Record<string, never>, const O extends Schema = JSONSchema>(
  spec: ToolSpec<S, O>,
  open: (call: Call) => ToolObject<S, O> | Promise<ToolObject<S, O>>,
): Tool {
  return { spec: spec as ToolSpec, previews: true, open: open as Tool["open"] };
}
