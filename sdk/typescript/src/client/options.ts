/** What callers say of calls. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptionsSchema } from "../gen/toolhost/v1/tool_service_pb.js";
import { encodeJSONBytes } from "../json.js";
import { toDuration, toTime, toValues } from "../wire/scalars.js";

/** Argument text as it comes: from a model, for example. */
export type ArgumentStream = AsyncIterable<string | Uint8Array>;

/**
 * The arguments of a call: an object, JSON text as it is (which need not be valid: toolhost tells), or text that comes in
 * pieces.
 */
export type Arguments = Readonly<Record<string, unknown>> | string | Uint8Array | ArgumentStream;

/** A person's consent to a call. */
export interface Approval {
  /** Who agreed, in words. */
  readonly approvedBy: string;
  /** Why. */
  readonly reason?: string;
  /** When. Default: now. */
  readonly time?: Date;
  /**
   * The final arguments that were agreed to. Default: those that it is sent with, exactly as they are; for arguments in pieces,
   * these or the digest must be set.
   */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The digest of the final arguments that were agreed to, from the `approval_required` error that asked. */
  readonly argumentsSha256?: string;
}

/** What may be said of a call besides its tool and arguments. */
export interface CallOptions {
  /**
   * The call's name and idempotency key: 1 to 128 printable ASCII characters without spaces. The same id with the same
   * tool and arguments is executed once. Default: toolhost makes one.
   */
  readonly callId?: string;
  /** The scope that calls share. Default: the default session of this user. */
  readonly session?: string;
  /** How long the call may take, in milliseconds. Default: the tool's own; that and toolhost's cap bound it. */
  readonly timeoutMs?: number;
  /** A person's consent, for tools that need one. */
  readonly approval?: Approval;
  /** The run's context, as JSON values by key; a tool gets only the keys that it declares. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The W3C trace context. */
  readonly traceparent?: string;
  /** How many bytes of text and JSON the result may show; what is more is kept as an artifact. Default: the operator's, 4 KiB. */
  readonly maxShownBytes?: number;
  /** Cancels the call. Where there is an `ended` event within a second, it says what was done. */
  readonly signal?: AbortSignal;
}

/** Names a call that exists. */
export interface CallKey {
  /** The session that it was made in. */
  readonly session?: string;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/** A piece of an artifact. */
export interface ArtifactPiece {
  /** The bytes; empty at or behind the end. */
  readonly data: Uint8Array;
  /** The IANA media type of the whole. */
  readonly mediaType: string;
  /** The size of the whole, in bytes. */
  readonly size: number;
  /** A file name without folders; may be empty. */
  readonly name: string;
}

/** Reports whether arguments come in pieces. */
export function isStream(args: Arguments): args is ArgumentStream {
  return typeof args === "object" && args !== null && Symbol.asyncIterator in args;
}

/** Returns the text of arguments that are there. */
export function argumentBytes(args: Exclude<Arguments, ArgumentStream>): Uint8Array {
  if (typeof args === "string") {
    return Buffer.from(args);
  }
  return args instanceof Uint8Array ? args : encodeJSONBytes(args);
}

/** Returns options as the contract has them. */
export function optionsMessage(options: CallOptions): MessageInitShape<typeof CallOptionsSchema> {
  const { callId = "", session = "", approval, context, traceparent = "", maxShownBytes } = options;
  const timeout = toDuration(options.timeoutMs);
  const time = toTime(approval?.time);
  return {
    callId,
    session,
    traceparent,
    context: toValues(context),
    ...(timeout && { timeout }),
    ...(maxShownBytes !== undefined && { maxShownBytes: BigInt(maxShownBytes) }),
    ...(approval && {
      approval: {
        approvedBy: approval.approvedBy,
        reason: approval.reason ?? "",
        ...(time && { time }),
        arguments: approval.arguments ? encodeJSONBytes(approval.arguments) : new Uint8Array(),
        argumentsSha256: approval.argumentsSha256 ?? "",
      },
    }),
  };
}
