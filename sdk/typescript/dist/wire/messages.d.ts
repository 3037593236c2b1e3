import { type Content, Result, type Usage } from "../content.js";
import { ToolhostError } from "../error.js";
import { type Error as PbError } from "../gen/toolhost/tool/v1/error_pb.js";
import { type Content as PbContent, type Result as PbResult, type Usage as PbUsage } from "../gen/toolhost/tool/v1/result_pb.js";
import { type LogRecord as PbLog, type Status as PbStatus } from "../gen/toolhost/tool/v1/status_pb.js";
import type { LogRecord, Status } from "../status.js";
/** Converts a block to its message. */
export declare function toContent(c: Content): PbContent;
/** Converts a message to a block. Returns undefined for an unknown kind. */
export declare function fromContent({ block }: PbContent): Content | undefined;
/**
 * Converts a result to its message. Throws if JSON cannot represent a value in it, or if an effect
 * has no key.
 */
export declare function toResult(r: Result): PbResult;
/** Converts a message to a result. */
export declare function fromResult(m: PbResult): Result;
/** Converts token usage to its message. */
export declare function toUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): PbUsage;
/** Converts a message to token usage. An unset message is no usage. */
export declare function fromUsage(m: PbUsage | undefined): Usage;
/**
 * Converts an error to its message. A plugin sends only the kind, the message and the retry pause.
 */
export declare function toError(e: ToolhostError): PbError;
/** Converts a message to an error. An unknown kind becomes `internal`. */
export declare function fromError(m: PbError, cause?: unknown): ToolhostError;
/** Converts a status to its message. Throws if JSON cannot represent a value in it. */
export declare function toStatus(s: Status): PbStatus;
/** Converts a message to a status. */
export declare function fromStatus(m: PbStatus): Status;
/** Converts a log record to its message. Throws if JSON cannot represent an attribute. */
export declare function toLogRecord(r: LogRecord): PbLog;
/** Converts a message to a log record. */
export declare function fromLogRecord(m: PbLog): LogRecord;
