/** Filters: functions that toolhost asks around calls of tools, also of other plugins' tools. */
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { json, Result, result } from "../content.js";
import { ToolhostError } from "../error.js";
import { ResultSchema } from "../gen/toolhost/tool/v1/result_pb.js";
import { encodeJSON, parseJSON, rawJSON } from "../json.js";
import { fromResult, toResult } from "../wire/messages.js";
import type { Call } from "./call.js";

/** A call as a filter sees it. */
export interface FilterCall {
  /** The id of the call that is filtered; empty if it has none. */
  readonly callId: string;
  /** Who calls. */
  readonly principal: string;
  /** The session; empty: none. */
  readonly session: string;
  /** The tool's name. */
  readonly tool: string;
  /** The plugin that ships it. */
  readonly plugin: string;
  /** The arguments: before the call as they stand, after it those that were executed. Integers beyond 2^53 are bigint. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call that was made, as a filter sees it. */
export interface FilteredCall extends FilterCall {
  /** What the tool answered. */
  readonly result: Result;
}

/** What a filter makes of a call before it is made; nothing leaves all as it is. */
export type BeforeAnswer =
  | { /** An object that takes the place of the arguments. */ readonly arguments: Readonly<Record<string, unknown>> }
  | { /** Why the call must not be made; the caller is told. */ readonly deny: string }
  | { /** Ends the call with a result, as if it were the tool's. */ readonly answer: Result };

/** What a filter makes of a call's result; nothing leaves it as it is. */
export type AfterAnswer = { /** What takes the place of the result. */ readonly result: Result };

type Answer<A> = A | undefined | void | Promise<A | undefined | void>;

/**
 * A filter. The operator's configuration says around which calls it is asked, and in which order. Its functions run side
 * by side. An error that they throw says that the filter failed; what becomes of the call then is the operator's choice.
 */
export interface Filter {
  /** 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter; no tool of the plugin may have it. */
  readonly name: string;
  /** What it does, for operators. */
  readonly description?: string;
  /** Is asked before a call, whose arguments have been neither repaired nor validated. `own` is the filter's own call. */
  readonly before?: (call: FilterCall, own: Call) => Answer<BeforeAnswer>;
  /** Is asked when the tool has answered, also if the result says that it failed. `own` is the filter's own call. */
  readonly after?: (call: FilteredCall, own: Call) => Answer<AfterAnswer>;
}

/** Asks a filter, and returns its answer as the contract has it. */
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
      `the filter answered ${names}; ${phase} the call it may answer one of ${allowed.join(", ")}`,
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
  // The result is decoded as what it is, and not as any JSON.
  const question = parseJSON(text) as Question;
  const { phase } = question;
  if (phase !== "before" && phase !== "after") {
    throw new ToolhostError("internal", `the filter was asked in the phase ${encodeJSON(phase ?? null)}, which is not known`);
  }
  const asked = (JSON.parse(text) as Question).result;
  return {
    phase,
    call: {
      callId: question.call_id ?? "",
      principal: question.principal ?? "",
      session: question.session ?? "",
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

/** Encodes what a filter is asked, for tests of filters. */
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

/** Decodes the result in a filter's answer, for tests of filters. */
export function decodeAnsweredResult(value: unknown): Result {
  return fromResult(fromJson(ResultSchema, value as JsonValue));
}
