/** Tools: what they declare, and the code behind them. */
import type { $ZodType, input as ZodInput, output as ZodOutput } from "zod/v4/core";
import type { Content, Result } from "../content.js";
import type { Call, Session } from "./call.js";
import type { JSONSchema, Schema } from "./schema.js";

/** What a tool declares. Nothing in it is a grant: limits, sandboxing and secrets are requests that the operator may narrow. */
export interface ToolSpec<S extends Schema = Schema, O extends Schema = Schema> {
  /** 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter. Unique within one toolhost. */
  name: string;
  /** What the tool is for, when not to use it, and what it returns, written for a model. */
  description: string;
  /** The arguments: an object of zod, or a JSON Schema whose type is object. Default: an object without properties. */
  input?: S;
  /** The structured result, which the tool's function then has to return. Default: the tool promises none. */
  output?: O;
  /** The tool's own version. Default: the plugin's. */
  version?: string;
  /** A name for people. Default: `name`. */
  displayName?: string;
  /** A single word or path that groups tools, such as `files`. */
  category?: string;
  /** Words by which callers filter. Default: the plugin's `defaultTags`. */
  tags?: readonly string[];
  /** Arguments that show how the tool is meant to be called. */
  examples?: readonly InputExample[];
  /** How long one call may take, in milliseconds. Default: toolhost's (30 s); its cap (10 min) bounds it. */
  timeoutMs?: number;
  /** Whether a call's progress restarts `timeoutMs`. */
  progressExtendsTimeout?: boolean;
  /** When and how a failed call may be tried again. Default: never. */
  retry?: RetryPolicy;
  /** The most calls that may start in any 60 seconds, per session. 0: no limit. */
  rateLimitPerMinute?: number;
  /** The memory that the tool's process needs, in bytes. 0: the operator's default. */
  memoryLimitBytes?: number;
  /** What one use costs, in units of the operator's choice. 0: free. */
  costPerUse?: number;
  /** The names of the secrets that the tool needs; see Call.secrets. */
  requiresAuth?: readonly string[];
  /**
   * Asks to run outside the sandbox. Only the operator can grant it, and only to the whole plugin, whose tools share
   * processes: ship such a tool in a plugin of its own.
   */
  sandboxExempt?: boolean;
  /** Wants to see its arguments while the model still writes them; see `objectTool`. */
  partialArguments?: boolean;
  /** May do harm that a person should have agreed to. */
  dangerous?: boolean;
  /** Changes nothing outside itself. */
  readOnly?: boolean;
  /** Has the same outcome when executed twice with the same arguments. */
  idempotent?: boolean;
  /** Must never run beside another call of the same batch. */
  serial?: boolean;
  /** Its result is the answer for the user: the model need not see it first. */
  returnDirect?: boolean;
  /** Wants its arguments exactly as given: no repair, no clamping, no defaults by toolhost. */
  strict?: boolean;
  /** The keys of the run's context that the tool wants, such as `run` or `user`; see Session.values. */
  contextKeys?: readonly string[];
  /** The keys of the run's context that the tool's effects may change. Effects on other keys are refused. */
  effectKeys?: readonly string[];
  /** Whatever else is to be said, as JSON values by key. */
  metadata?: Readonly<Record<string, unknown>>;
  /**
   * Describes the tool anew for each session. It is asked when tools are listed and before each call, so that it must be
   * quick, must have no effect, and should answer the same as long as nothing has changed. A call's arguments are those
   * of its session's schema. Without a session and values nobody is asked, and the tool is as it is declared; it is, too,
   * where the answer is an error or a schema that cannot be used, which is logged.
   */
  describe?: (session: Session) => Variant | Promise<Variant>;
}

/** One call as the tool's author imagines it. */
export interface InputExample {
  /** What the example shows. */
  readonly description?: string;
  /** The arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** How a failed call may be tried again, where that is safe: it never started, or its tool is readOnly or idempotent. */
export interface RetryPolicy {
  /** How many tries in all. 0 and 1 both mean one. */
  readonly maxAttempts: number;
  /** The pause before the second try, in milliseconds; it doubles for each further one. Default: 200. */
  readonly initialBackoffMs?: number;
  /** The longest pause, in milliseconds. Default: 5000. */
  readonly maxBackoffMs?: number;
}

/** How a tool looks to one session. What is not set is as its spec says. */
export interface Variant {
  /** A name for people. */
  readonly displayName?: string;
  /** What the tool is for. */
  readonly description?: string;
  /** The arguments; they must be such as the tool can take. */
  readonly input?: Schema;
  /** The structured result. */
  readonly output?: Schema;
  /** Arguments that show how the tool is meant to be called. */
  readonly examples?: readonly InputExample[];
}

/** The arguments that a schema makes. */
export type Input<S> = S extends $ZodType
  ? ZodOutput<S>
  : S extends JSONSchema
    ? Record<string, unknown>
    : Record<string, never>;

/** Arguments that have not arrived in full: whatever has not come is not there, and nothing is validated. */
export type SoFar<S> = S extends $ZodType ? Partially<ZodInput<S>> : Record<string, unknown>;

/** A value of which any part may not be there. */
export type Partially<T> = T extends readonly (infer E)[]
  ? Partially<E>[]
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> }
    : T;

/**
 * What a tool may return. One that declares its output as a schema of zod returns a value that fits it, or blocks or a
 * result. Any other returns text, a block or a list of blocks, a result, nothing, or any value, which becomes one block of
 * JSON.
 */
export type Output<O extends Schema = JSONSchema> = [O] extends [$ZodType]
  ? ZodInput<O> | Content | readonly (string | Content)[] | Result
  : unknown;

/** What serves one call; see `objectTool`. Its methods never run at the same time. */
export interface ToolObject<S extends Schema = Schema, O extends Schema = JSONSchema> {
  /** Does the work, once, with complete arguments. */
  run(input: Input<S>): Output<O> | Promise<Output<O>>;
  /**
   * Is shown what has arrived of the arguments so far: a string may be cut, a list short. It is for previews alone, such
   * as Call.status, and must have no effect. While it runs, newer text gathers, and only the latest is shown next. The
   * signal is aborted when the arguments are complete: it should return then, because `run` waits for it. The tool must
   * declare `partialArguments`.
   */
  preview?(soFar: SoFar<S>, signal: AbortSignal): void | Promise<void>;
  /** Is called exactly once at the end of the call, however it ended. */
  close?(): void | Promise<void>;
}

/** One tool of a plugin. `tool` and `objectTool` make them. */
export interface Tool {
  /** What it declares. */
  readonly spec: Readonly<ToolSpec>;
  /** Whether its code is opened for each call, so that it can be shown previews. */
  readonly previews: boolean;
  /** Opens what serves one call. */
  readonly open: (call: Call) => ToolObject | Promise<ToolObject>;
}

/**
 * Returns a tool that calls a function.
 *
 * What the function returns is what the model reads. An error that it throws is a result, too: the model reads that the
 * call failed, and why, with paths in the workspace relative to it. A ToolError's message is all that it reads; of any other
 * error it also reads the type, and the stack goes into the log. A ToolhostError is a failure of the machinery, which the
 * caller handles.
 *
 * Calls run side by side. The function should stop soon after `call.signal` is aborted.
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
 * Returns a tool that opens an object for each call: for tools that are shown their arguments while the model still writes
 * them, and for those that have something to close. Everything of one call id reaches one object. `open` is called when
 * the call begins, which is before its arguments are complete.
 */
export function objectTool<const S extends Schema = Record<string, never>, const O extends Schema = JSONSchema>(
  spec: ToolSpec<S, O>,
  open: (call: Call) => ToolObject<S, O> | Promise<ToolObject<S, O>>,
): Tool {
  return { spec: spec as ToolSpec, previews: true, open: open as Tool["open"] };
}
