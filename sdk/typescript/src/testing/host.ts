/** A host of one plugin's tools inside a test. */
import type { Content } from "../content.js";
import { encodeJSON, parseJSON } from "../json.js";
import { describePlugin } from "../plugin/dynamic.js";
import { encodeQuestion, type FilterCall, type FilteredCall } from "../plugin/filter.js";
import { complaint, descriptionJSON } from "../plugin/introduction.js";
import { type Plugin, problemsOf } from "../plugin/plugin.js";
import { toDuration, toValues } from "../wire/scalars.js";
import { TestCall } from "./call.js";
import { type Filtered, filtered } from "./filtered.js";
import { checker } from "./schemas.js";
import { MemoryToolhost } from "./toolhost.js";

/** What may be said of a call in a test. */
export interface TestOptions {
  /** The call's id. Default: each call has one of its own. */
  readonly callId?: string;
  /** Which try of the call this is. Default: 1. */
  readonly attempt?: number;
  /** The session. */
  readonly session?: string;
  /** The folder that the tool may work in. */
  readonly workspace?: string;
  /** The run's context. As under a toolhost, a value reaches only a tool that declares its key. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Secrets. As under a toolhost, one reaches only a tool that declares its name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The W3C trace context. */
  readonly traceparent?: string;
  /** How long the call may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Blocks of content that the tool can read as artifacts, by handle. */
  readonly artifacts?: Readonly<Record<string, Content>>;
}

interface Declared {
  readonly name: string;
  readonly input_schema?: unknown;
  readonly output_schema?: unknown;
  readonly [member: string]: unknown;
}

/** What a plugin says of itself, as `--describe` prints it. */
export interface Description {
  readonly name: string;
  readonly tools: readonly Declared[];
  readonly [member: string]: unknown;
}

/** Runs the tools of one plugin. */
export class TestHost {
  readonly #plugin: Plugin;
  readonly #toolhost: MemoryToolhost;
  #number = 0;

  /** Throws if the plugin's declaration is wrong. */
  constructor(plugin: Plugin) {
    const problems = problemsOf(plugin);
    if (problems.length > 0) {
      throw new Error(complaint(plugin, problems));
    }
    this.#plugin = plugin;
    this.#toolhost = new MemoryToolhost(plugin);
  }

  /** Returns what the plugin says of itself, with the schemas that were derived, to a session or to nobody in particular. */
  async describe(options: Pick<TestOptions, "session" | "values"> = {}): Promise<Description> {
    const { session = "", values } = options;
    const description = await describePlugin(this.#plugin, { tools: [], session, context: toValues(values) });
    return JSON.parse(descriptionJSON(description));
  }

  /** Runs a tool and waits for its end. Arguments are an object, or JSON text. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>> | string = {},
    options: TestOptions = {},
  ): Promise<TestCall> {
    const text = typeof args === "string" ? args : encodeJSON(args);
    const refusal = await this.#refusal(tool, text, options);
    const call = this.#open(tool, options, refusal);
    if (refusal === undefined) {
      call.complete(text);
    }
    await call.ended;
    await this.#checkOutput(tool, call, options);
    return call;
  }

  /** Begins a call whose arguments come piece by piece: `append` them, then `complete` it and wait for `ended`. */
  stream(tool: string, options: TestOptions = {}): TestCall {
    return this.#open(tool, options);
  }

  #open(tool: string, options: TestOptions, refusal?: string): TestCall {
    this.#number++;
    const { callId = `call-${this.#number}`, attempt = 1, session = "", workspace = "", traceparent = "" } = options;
    const spec = this.#plugin.tools?.find((t) => t.spec.name === tool)?.spec;
    const timeout = toDuration(options.timeoutMs);
    const start = {
      callId,
      tool,
      attempt,
      ...(timeout && { timeout }),
      context: {
        session,
        workspace,
        traceparent,
        values: toValues(only(options.values, spec?.contextKeys)),
        secrets: only(options.secrets, spec?.requiresAuth),
      },
    };
    return new TestCall(this.#toolhost, start, options, refusal);
  }

  /** Asks a filter about a call that has not been made. */
  before(filter: string, call: Partial<FilterCall>, options: TestOptions = {}): Promise<Filtered> {
    return this.#ask("before", filter, call, options);
  }

  /** Asks a filter about a call whose tool has answered with `call.result`. */
  after(filter: string, call: Partial<FilteredCall>, options: TestOptions = {}): Promise<Filtered> {
    return this.#ask("after", filter, call, options);
  }

  async #ask(phase: "before" | "after", filter: string, call: Partial<FilteredCall>, options: TestOptions): Promise<Filtered> {
    const own = this.stream(filter, options);
    own.complete(encodeQuestion(phase, call));
    await own.ended;
    return filtered(own);
  }

  /** Cancels what is under way and waits until it has ended. */
  close(): Promise<void> {
    return this.#toolhost.close();
  }

  /** Returns what a toolhost would tell the model in the tool's place, because the arguments do not fit its schema. */
  async #refusal(tool: string, text: string, options: TestOptions): Promise<string | undefined> {
    const schema = (await this.describe(options)).tools.find(({ name }) => name === tool)?.input_schema;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return `the arguments are not JSON: ${error instanceof Error ? error.message : error}`;
    }
    const lines = schema ? (checker(JSON.stringify(schema))?.(value) ?? []) : [];
    return lines.length > 0 ? `the arguments do not fit the tool's schema:\n${lines.join("\n")}` : undefined;
  }

  async #checkOutput(tool: string, { result }: TestCall, options: TestOptions): Promise<void> {
    const schema = (await this.describe(options)).tools.find(({ name }) => name === tool)?.output_schema;
    const check = schema && result && !result.isError ? checker(JSON.stringify(schema)) : undefined;
    for (const block of result?.content ?? []) {
      const lines = block.kind === "json" ? (check?.(parseJSON(block.json)) ?? []) : [];
      if (lines.length > 0) {
        throw new Error(`tool ${JSON.stringify(tool)}: its result does not fit its output schema:\n${lines.join("\n")}`);
      }
    }
  }
}

function only<V>(values: Readonly<Record<string, V>> = {}, declared: readonly string[] = []): Record<string, V> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => declared.includes(key)));
}
