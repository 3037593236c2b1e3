/** Filters: functions that toolhost runs before and after calls of tools of any plugin. */
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { json, Result, result } from "../content.js";
import { ToolhostError } from "../error.js";
import { ResultSchema } from "../gen/toolhost/tool/v1/result_pb.js";
import { encodeJSON, parseJSON, rawJSON } from "../json.js";
import { fromResult, toResult } from "../wire/messages.js";
import type { Call } from "./call.js";

/** A call that a filter examines. */
export interface FilterCall {
  /** The id of the filtered call. Undefined if it has none. */
  readonly callId: string | undefined;
  /**
   * The identity of the caller. For a tool in `tools` of the filter, it is empty unless the tool
   * declares the context key `toolhost.principal`.
   */
  readonly principal: string;
  /** The session of the filtered call. Undefined if it has none. */
  readonly session: string | undefined;
  /** The name of the tool. */
  readonly tool: string;
  /** The plugin of the tool. */
  readonly plugin: string;
  /**
   * Before the call, the arguments of the caller or of the previous filter. After the call, the
   * executed arguments. Integers beyond 2^53 are bigint.
   */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** An executed call that a filter examines. */
export interface FilteredCall extends FilterCall {
  /** The result of the tool. */
  readonly result: Result;
}

/** What a filter changes before a call. Returning nothing allows the call unchanged. */
export type BeforeAnswer =
  | { /** Replaces the arguments. */ readonly arguments: Readonly<Record<string, unknown>> }
  | { /** Prevents the call. The caller receives the reason. */ readonly deny: string }
  | { /** Ends the call with a result, without running the tool. */ readonly answer: Result };

/** What a filter changes after a call. Returning nothing keeps the result. */
export type AfterAnswer = { /** Replaces the result. */ readonly result: Result };

type Answer<A> = A | undefined | void | Promise<A | undefined | void>;

/**
 * A filter. The configuration of the operator selects the calls and the order of the filters. The
 * functions run concurrently for different calls. If one throws, the filter has failed, and the
 * configuration decides about the call.
 */
export interface Filter {
  /**
   * 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter. No tool of the plugin may
   * have the same name.
   */
  readonly name: string;
  /** What it does, for operators. */
  readonly description?: string;
  /**
   * Names of tools of the same plugin whose calls always pass the filter. The operator configures
   * nothing. Such a call fails if the filter fails. `before` runs before the rules of the operator
   * and the approval of a person, which decide about the arguments that it returns. So it must have
   * no side effects, and must not return `answer`. Default: none; only the configuration of the
   * operator applies the filter.
   */
  readonly tools?: readonly string[];
  /**
   * Runs before a call, when its arguments are neither repaired nor validated. `own` is the call of
   * the filter itself.
   */
  readonly before?: (call: FilterCall, own: Call) => Answer<BeforeAnswer>;
  /**
   * Runs after the tool has returned a result, also if that reports a failure. `own` is the call of
   * the filter itself.
   */
  readonly after?: (call: FilteredCall, own: Call) => Answer<AfterAnswer>;
}

/** Runs a filter, and returns its answer in the form that toolhost expects. */
export async function askFilter(filter: Filter, question: string, own: Call): Promise<Result> {
  const { phase, call } = decodeQuestion(question);
  const answer = phase === "before" ? await filter.before?.(call, own) : await filter.after?.(call, own);
  if (!answer) {
    return result({});
  }
  const allowed = phase === "before" ? ["arguments", "deny", "answer"] : ["result"];
  const members = Object.entries(answer).filter(([, value]) => value !== undefined);
  if (members.length === 0) {
    return result({});
  }
  const [member, value] = members[0] as [string, unknown];
  if (members.length > 1 || !allowed.includes(member)) {
    const names = members.map(([name]) => name).join(", ");
    throw new ToolhostError(
      "internal",
      `the filter returned ${names}; ${phase} the call it must return one of ${allowed.join(", ")}`,
    );
  }
  return result({ content: json({ [member]: value instanceof Result ? resultJSON(value) : value }) });
}

interface Question {
  phase?: unknown;
  call_id?: string;
  principal?: string;
  session?: string;
  tool?: string;
  plugin?: string;
  arguments?: Record<string, unknown>;
  result?: JsonValue;
}

function decodeQuestion(text: string): { phase: "before" | "after"; call: FilteredCall } {
  // The result is a protobuf message in JSON form, so it is decoded separately.
  const question = parseJSON(text) as Question;
  const { phase } = question;
  if (phase !== "before" && phase !== "after") {
    throw new ToolhostError("internal", `the filter does not know the phase ${encodeJSON(phase ?? null)}`);
  }
  const asked = (JSON.parse(text) as Question).result;
  return {
    phase,
    call: {
      callId: question.call_id || undefined,
      principal: question.principal ?? "",
      session: question.session || undefined,
      tool: question.tool ?? "",
      plugin: question.plugin ?? "",
      arguments: question.arguments ?? {},
      result: asked === undefined ? result({}) : fromResult(fromJson(ResultSchema, asked, { ignoreUnknownFields: true })),
    },
  };
}

function resultJSON(value: Result) {
  return rawJSON(JSON.stringify(toJson(ResultSchema, toResult(value))));
}

/** Encodes the request of a filter, for tests of filters. */
export function encodeQuestion(phase: "before" | "after", call: Partial<FilteredCall>): string {
  const { callId, principal, session, tool, plugin, arguments: args = {}, result: answered } = call;
  return encodeJSON({
    phase,
    call_id: callId,
    principal,
    session,
    tool,
    plugin,
    arguments: args,
    ...(answered && { result: resultJSON(answered) }),
  });
}

/** Decodes the result in the answer of a filter, for tests of filters. */
export function decodeAnsweredResult(value: unknown): Result {
  return fromResult(fromJson(ResultSchema, value as JsonValue));
}
