/** The options and arguments of calls, and their conversion to messages. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import type { CallOptionsSchema } from "../gen/toolhost/v1/tool_service_pb.js";
import { encodeJSONBytes } from "../json.js";
import type { QuestionKind } from "../question.js";
import { issueLines, type StandardSchema } from "../standard.js";
import { toKinds } from "../wire/questions.js";
import { toDuration, toTime, toValues } from "../wire/scalars.js";
import type { CallEvent, Outcome } from "./events.js";
import { onBehalfOfField, type Principal } from "./identity.js";

/** Argument text that arrives in pieces, for example from a model. */
export type ArgumentStream = AsyncIterable<string | Uint8Array>;

/** The arguments of a call: an object, JSON text that is sent unchanged, or JSON text in pieces. */
export type Arguments = Readonly<Record<string, unknown>> | string | Uint8Array | ArgumentStream;

/**
 * The approval of a call by a person. It is valid only for the call that carries it. The audit log
 * records it.
 */
export interface Approval {
  /** The person who approved the call, as the audit log names them. */
  readonly approvedBy: string;
  /** The reason. */
  readonly reason?: string;
  /** When the person approved the call. Default: now. */
  readonly time?: Date;
  /**
   * The final arguments that the person approved. If neither these nor the digest is set, the
   * approval is for the arguments that the call sends and the declared defaults of missing ones. A
   * call with arguments in pieces must set one of the two.
   */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /**
   * The digest of the final arguments that the person approved, from the `approval_required` error.
   */
  readonly argumentsSha256?: string;
  /**
   * `sessionMove` of the `approval_required` error, whose message the person has read. Default: the
   * approval does not move the session.
   */
  readonly sessionMove?: string;
}

/** The options of a call. */
export interface CallOptions {
  /**
   * The idempotency key: 1 to 128 printable ASCII characters without spaces. toolhost executes the
   * same id only once. Default: toolhost generates one.
   */
  readonly callId?: string;
  /** The session of the call. Default: that of the client. */
  readonly session?: string;
  /**
   * The longest duration of the call, in milliseconds. Default: that of the client, else that of
   * the tool.
   */
  readonly timeoutMs?: number;
  /** The approval by a person, for tools that require one. */
  readonly approval?: Approval;
  /**
   * Lets toolhost hold the call if a person has to approve it, and says how many milliseconds to wait
   * for that. If nobody decides in that time, the call fails with `approval_required` and
   * `ToolhostError.decision`: after a person approved that, the same call passes once. 0 does not
   * wait. Default: toolhost does not hold the call.
   */
  readonly approvalWaitMs?: number;
  /** The run context, as JSON values by key. A tool receives only the keys that it declares. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The W3C traceparent. */
  readonly traceparent?: string;
  /**
   * How many bytes of text and JSON the result may contain. toolhost stores a larger result as an
   * artifact.
   */
  readonly maxShownBytes?: number;
  /**
   * The id of the ledger that the call id is for. A toolhost with another ledger does not execute
   * the call: it returns the outcome if it has it, and otherwise `outcome_unknown`. Default: any
   * toolhost may execute the call. The client never sets it by itself.
   */
  readonly ledgerId?: string;
  /**
   * When the application first sent the call, or may have sent it. toolhost returns
   * `outcome_unknown` if it does not know the call id and may have deleted its record since then.
   * Default: toolhost assumes that the call is new, unless its ledger was restored from a backup. A
   * restored toolhost executes a call with side effects and an unknown call id only if this time is
   * after the restore, or if `ledgerId` is the id of the restored ledger. The client never sets it
   * by itself.
   */
  readonly firstSent?: Date;
  /**
   * The principal for which the client makes the request. Default: that of the client. Error kinds:
   * denied, unless the client has the right to delegate in the tenant of the principal.
   */
  readonly onBehalfOf?: Principal;
  /**
   * The name of the agent that makes the call. toolhost ignores it unless the client has the right
   * `delegate` or `calls.approve` in the tenant of the call. Default: none.
   */
  readonly agent?: string;
  /** The id of the run that makes the call. toolhost ignores it like `agent`. Default: none. */
  readonly run?: string;
  /**
   * What the application answers if the tool asks: it reads the events of the call, and answers each
   * QuestionEvent with `Toolhost.answerQuestion`. Default: nothing, and a tool that asks gets the
   * error `unsupported`.
   */
  readonly answers?: readonly QuestionKind[];
  /** Cancels the call. The client then waits up to one second for the end of the call. */
  readonly signal?: AbortSignal;
  /** Receives every event before the end of the call. `execute` ignores it. */
  readonly onEvent?: (event: CallEvent) => void;
}

/** The options of a request. */
export interface RequestOptions {
  /** Stops waiting for the answer. The server may execute the request nevertheless. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of requests about existing calls and artifacts. */
export interface CallKey {
  /** The session. Default: that of the client. */
  readonly session?: string;
  /**
   * The principal for which the client makes the request. Default: that of the client. Error kinds:
   * denied, unless the client has the right to delegate in the tenant of the principal.
   */
  readonly onBehalfOf?: Principal;
  /** Stops waiting for the answer. */
  readonly signal?: AbortSignal;
}

/** A part of an artifact. */
export interface ArtifactPiece {
  /** The bytes. Empty at the end of the artifact and beyond it. */
  readonly data: Uint8Array;
  /** The IANA media type of the artifact. */
  readonly mediaType: string;
  /** The size of the whole artifact, in bytes. */
  readonly size: number;
  /** A file name without folders. May be empty. */
  readonly name: string;
}

/** Reports whether arguments arrive in pieces. */
export function isStream(args: Arguments): args is ArgumentStream {
  return typeof args === "object" && args !== null && Symbol.asyncIterator in args;
}

/** Returns complete arguments as JSON text. Throws if JSON cannot represent them. */
export function argumentBytes(args: Exclude<Arguments, ArgumentStream>): Uint8Array {
  if (typeof args === "string") {
    return Buffer.from(args);
  }
  return args instanceof Uint8Array ? args : encodeJSONBytes(args);
}

/** Converts the options of a call to their message. Throws if JSON cannot represent a value. */
export function optionsMessage(options: CallOptions): MessageInitShape<typeof CallOptionsSchema> {
  const { callId = "", session = "", approval, context, traceparent = "", maxShownBytes, ledgerId = "" } = options;
  const { agent = "", run = "", approvalWaitMs } = options;
  const timeout = toDuration(options.timeoutMs);
  const firstSentTime = toTime(options.firstSent);
  const time = toTime(approval?.time);
  const answers = toKinds(options.answers ?? []);
  return {
    callId,
    session,
    traceparent,
    context: toValues(context),
    ...(timeout && { timeout }),
    ...(approvalWaitMs !== undefined && { approvalWait: toDuration(approvalWaitMs) ?? {} }),
    ...(maxShownBytes !== undefined && { maxShownBytes: BigInt(maxShownBytes) }),
    ledgerId,
    agent,
    run,
    ...onBehalfOfField(options.onBehalfOf),
    ...(firstSentTime && { firstSentTime }),
    ...(answers && { answers }),
    ...(approval && {
      approval: {
        approvedBy: approval.approvedBy,
        reason: approval.reason ?? "",
        ...(time && { time }),
        arguments: approval.arguments ? encodeJSONBytes(approval.arguments) : new Uint8Array(),
        argumentsSha256: approval.argumentsSha256 ?? "",
        sessionMove: approval.sessionMove ?? "",
      },
    }),
  };
}

/** An outcome with the validated value of its result. */
export interface TypedOutcome<O> extends Outcome {
  /**
   * The value of the only JSON block of the result. Undefined if the tool reports a failure; see
   * `result.isError`.
   */
  readonly value: O | undefined;
}

/**
 * Adds the validated value to an outcome. Throws a ToolhostError of kind `internal` if the result
 * does not fit.
 */
export async function typedOutcome<O>(outcome: Outcome, schema: StandardSchema<unknown, O>): Promise<TypedOutcome<O>> {
  const { result, callId } = outcome;
  if (result.isError) {
    return { ...outcome, value: undefined };
  }
  const value = onlyValue(outcome);
  const validated = await schema["~standard"].validate(value);
  if (validated.issues) {
    const message = `the result does not fit the expected type:\n${issueLines(validated.issues, "result").join("\n")}`;
    throw new ToolhostError("internal", message, { callId });
  }
  return { ...outcome, value: validated.value };
}

function onlyValue({ result, callId }: Outcome): unknown {
  try {
    return result.value;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ToolhostError("internal", message, { callId, cause: error });
  }
}
