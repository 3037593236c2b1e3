/** Conversion between the types of the SDK and the messages of toolhost.tool.v1. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { artifact, type BlobContent, blob, type Content, type Effect, jsonText, Result, text, type Usage } from "../content.js";
import { type Exit, ToolhostError } from "../error.js";
import { ErrorSchema, type Error as PbError } from "../gen/toolhost/tool/v1/error_pb.js";
import {
  ArtifactSchema,
  type Blob,
  BlobSchema,
  ContentSchema,
  type Content as PbContent,
  type Result as PbResult,
  type Usage as PbUsage,
  ResultSchema,
  UsageSchema,
} from "../gen/toolhost/tool/v1/result_pb.js";
import {
  LogRecordSchema,
  type LogRecord as PbLog,
  type Status as PbStatus,
  StatusSchema,
} from "../gen/toolhost/tool/v1/status_pb.js";
import { decodeText, encodeJSONBytes } from "../json.js";
import type { LogRecord, Status } from "../status.js";
import { effectOperations, errorKinds, logLevels, statusStates } from "./enums.js";
import { fromDuration, fromJSONBytes, fromTime, fromValues, toDuration, toTime, toValues, wellFormed } from "./scalars.js";

/** Converts a block to its message. */
export function toContent(c: Content): PbContent {
  switch (c.kind) {
    case "text":
      return create(ContentSchema, { block: { case: "text", value: wellFormed(c.text) } });
    case "json":
      return create(ContentSchema, { block: { case: "json", value: Buffer.from(c.json) } });
    case "artifact": {
      const value = create(ArtifactSchema, { ...c, size: BigInt(c.size) });
      return create(ContentSchema, { block: { case: "artifact", value } });
    }
    case "image":
      return create(ContentSchema, { block: { case: "image", value: toBlob(c) } });
    default:
      return create(ContentSchema, { block: { case: "file", value: toBlob(c) } });
  }
}

function toBlob({ mediaType, name, data }: BlobContent): Blob {
  return create(BlobSchema, { mediaType: wellFormed(mediaType), name: wellFormed(name), data });
}

/** Converts a message to a block. Returns undefined for an unknown kind. */
export function fromContent({ block }: PbContent): Content | undefined {
  switch (block.case) {
    case "text":
      return text(block.value);
    case "json":
      return jsonText(decodeText(block.value));
    case "image":
    case "file":
      return blob(block.case, block.value.mediaType, block.value.name, block.value.data);
    case "artifact": {
      const { handle, mediaType, size, head, tail, name } = block.value;
      return artifact({ handle, mediaType, size: Number(size), head, tail, name });
    }
    default:
      return undefined;
  }
}

/**
 * Converts a result to its message. Throws if JSON cannot represent a value in it, or if an effect
 * has no key.
 */
export function toResult(r: Result): PbResult {
  const message: MessageInitShape<typeof ResultSchema> = {
    content: r.content.map(toContent),
    isError: r.isError,
    effects: r.isError ? [] : r.effects.map(toEffect),
    cost: Number.isFinite(r.cost) ? r.cost : 0,
    metadata: toValues(r.metadata),
  };
  if (r.usage) {
    message.usage = toUsage(r.usage);
  }
  const duration = toDuration(r.durationMs);
  if (duration) {
    message.duration = duration;
  }
  return create(ResultSchema, message);
}

function toEffect(effect: Effect, index: number) {
  if (!effect.key) {
    throw new TypeError(`effect ${index + 1} of the result has no key`);
  }
  return {
    key: wellFormed(effect.key),
    operation: effectOperations.number(effect.operation ?? "replace"),
    value: encodeJSONBytes(effect.value ?? null),
  };
}

/** Converts a message to a result. */
export function fromResult(m: PbResult): Result {
  return new Result({
    content: m.content.map(fromContent).filter((c) => c !== undefined),
    isError: m.isError,
    effects: m.effects.map((e) => ({
      key: e.key,
      operation: effectOperations.word(e.operation) ?? "replace",
      value: fromJSONBytes(e.value),
    })),
    usage: m.usage && fromUsage(m.usage),
    cost: m.cost,
    metadata: fromValues(m.metadata),
    durationMs: fromDuration(m.duration) ?? 0,
  });
}

/** Converts token usage to its message. */
export function toUsage({ inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): PbUsage {
  return create(UsageSchema, {
    inputTokens: BigInt(inputTokens),
    outputTokens: BigInt(outputTokens),
    cacheReadTokens: BigInt(cacheReadTokens),
    cacheWriteTokens: BigInt(cacheWriteTokens),
  });
}

/** Converts a message to token usage. An unset message is no usage. */
export function fromUsage(m: PbUsage | undefined): Usage {
  return {
    inputTokens: Number(m?.inputTokens ?? 0),
    outputTokens: Number(m?.outputTokens ?? 0),
    cacheReadTokens: Number(m?.cacheReadTokens ?? 0),
    cacheWriteTokens: Number(m?.cacheWriteTokens ?? 0),
  };
}

/**
 * Converts an error to its message. A plugin sends only the kind, the message and the retry pause.
 */
export function toError(e: ToolhostError): PbError {
  const retryAfter = toDuration(e.retryAfterMs);
  return create(ErrorSchema, {
    kind: errorKinds.number(e.kind),
    message: wellFormed(e.message),
    ...(retryAfter && { retryAfter }),
  });
}

/** Converts a message to an error. An unknown kind becomes `internal`. */
export function fromError(m: PbError, cause?: unknown): ToolhostError {
  const exit: Exit | undefined = m.exit && {
    code: m.exit.code,
    signal: m.exit.signal || undefined,
    outOfMemory: m.exit.outOfMemory,
    reason: m.exit.reason,
    lastStderr: m.exit.lastStderr,
  };
  const { callId, plugin, instance, rule, argumentsSha256, decision, sessionMove } = m;
  const args = m.arguments.length > 0 ? Buffer.from(m.arguments).toString() : undefined;
  const retryAfterMs = fromDuration(m.retryAfter);
  const asked = { rule, arguments: args, argumentsSha256, decision, sessionMove };
  const details = { retryAfterMs, callId, plugin, instance, exit, ...asked, cause };
  return new ToolhostError(errorKinds.word(m.kind) ?? "internal", m.message, details);
}

/** Converts a status to its message. Throws if JSON cannot represent a value in it. */
export function toStatus(s: Status): PbStatus {
  const message: MessageInitShape<typeof StatusSchema> = { message: wellFormed(s.message ?? "") };
  if (s.state) {
    message.state = statusStates.number(s.state);
  }
  if (s.parameters !== undefined) {
    message.parameters = encodeJSONBytes(s.parameters);
  }
  if (s.result !== undefined) {
    message.result = encodeJSONBytes(s.result);
  }
  if (s.progress) {
    const { done, total = 0, message: line = "" } = s.progress;
    message.progress = { done: finite(done), total: finite(total), message: wellFormed(line) };
  }
  return create(StatusSchema, message);
}

function finite(n: number): number {
  return Number.isFinite(n) ? n : 0;
}

/** Converts a message to a status. */
export function fromStatus(m: PbStatus): Status {
  const { done = 0, total = 0, message = "" } = m.progress ?? {};
  return {
    ...(statusStates.word(m.state) && { state: statusStates.word(m.state) }),
    ...(m.message && { message: m.message }),
    ...(m.parameters.length > 0 && { parameters: fromJSONBytes(m.parameters) as Record<string, unknown> }),
    ...(m.progress && { progress: { done, ...(total > 0 && { total }), ...(message && { message }) } }),
    ...(m.result.length > 0 && { result: fromJSONBytes(m.result) }),
  };
}

/** Converts a log record to its message. Throws if JSON cannot represent an attribute. */
export function toLogRecord(r: LogRecord): PbLog {
  const time = toTime(r.time);
  return create(LogRecordSchema, {
    ...(time && { time }),
    level: logLevels.number(r.level),
    message: wellFormed(r.message),
    attributes: toValues(r.attributes),
  });
}

/** Converts a message to a log record. */
export function fromLogRecord(m: PbLog): LogRecord {
  return {
    time: fromTime(m.time) ?? new Date(),
    level: logLevels.word(m.level) ?? "info",
    message: m.message,
    attributes: fromValues(m.attributes),
  };
}
