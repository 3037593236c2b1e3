import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/status.proto.
 */
export declare const file_toolhost_tool_v1_status: GenFile;
/**
 * Status is what a call shows to people while it runs. It never reaches the model.
 *
 * A reader merges the statuses of a call into one: state, message, progress and result replace earlier
 * values where they are set, and `parameters` is merged recursively. No status follows one with the
 * state SUCCESS or ERROR.
 *
 * @generated from message toolhost.tool.v1.Status
 */
export type Status = Message<"toolhost.tool.v1.Status"> & {
    /**
     * The state of the call. UNSPECIFIED leaves the state unchanged.
     *
     * @generated from field: toolhost.tool.v1.StatusState state = 1;
     */
    state: StatusState;
    /**
     * One line of text for people. Empty leaves the text unchanged.
     *
     * @generated from field: string message = 2;
     */
    message: string;
    /**
     * A JSON object that is merged into the current one: nested objects are merged recursively, other
     * values are replaced. Empty leaves it unchanged.
     *
     * @generated from field: bytes parameters = 3;
     */
    parameters: Uint8Array;
    /**
     * The progress of the work. Unset leaves it unchanged.
     *
     * @generated from field: toolhost.tool.v1.Progress progress = 4;
     */
    progress?: Progress | undefined;
    /**
     * A JSON value for people. Empty leaves it unchanged.
     *
     * @generated from field: bytes result = 5;
     */
    result: Uint8Array;
};
/**
 * Describes the message toolhost.tool.v1.Status.
 * Use `create(StatusSchema)` to create a new message.
 */
export declare const StatusSchema: GenMessage<Status>;
/**
 * Progress says how much of the work is done.
 *
 * @generated from message toolhost.tool.v1.Progress
 */
export type Progress = Message<"toolhost.tool.v1.Progress"> & {
    /**
     * The amount done, in a unit that the tool chooses. It never decreases.
     *
     * @generated from field: double done = 1;
     */
    done: number;
    /**
     * The total amount, in the same unit. 0 means unknown.
     *
     * @generated from field: double total = 2;
     */
    total: number;
    /**
     * One line of text for people. May be empty.
     *
     * @generated from field: string message = 3;
     */
    message: string;
};
/**
 * Describes the message toolhost.tool.v1.Progress.
 * Use `create(ProgressSchema)` to create a new message.
 */
export declare const ProgressSchema: GenMessage<Progress>;
/**
 * LogRecord is one record of a tool's log.
 *
 * @generated from message toolhost.tool.v1.LogRecord
 */
export type LogRecord = Message<"toolhost.tool.v1.LogRecord"> & {
    /**
     * When the tool wrote the record. Unset means the time at which toolhost received it.
     *
     * @generated from field: google.protobuf.Timestamp time = 1;
     */
    time?: Timestamp | undefined;
    /**
     * The severity.
     *
     * @generated from field: toolhost.tool.v1.LogLevel level = 2;
     */
    level: LogLevel;
    /**
     * The message.
     *
     * @generated from field: string message = 3;
     */
    message: string;
    /**
     * Attributes, as JSON values by key.
     *
     * @generated from field: map<string, bytes> attributes = 4;
     */
    attributes: {
        [key: string]: Uint8Array;
    };
};
/**
 * Describes the message toolhost.tool.v1.LogRecord.
 * Use `create(LogRecordSchema)` to create a new message.
 */
export declare const LogRecordSchema: GenMessage<LogRecord>;
/**
 * StatusState is the state of a call as people see it.
 *
 * @generated from enum toolhost.tool.v1.StatusState
 */
export declare enum StatusState {
    /**
     * Not set.
     *
     * @generated from enum value: STATUS_STATE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The arguments are incomplete, or the work has not started.
     *
     * @generated from enum value: STATUS_STATE_WAIT = 1;
     */
    WAIT = 1,
    /**
     * The tool is working.
     *
     * @generated from enum value: STATUS_STATE_DOING = 2;
     */
    DOING = 2,
    /**
     * The work succeeded. This is the last status.
     *
     * @generated from enum value: STATUS_STATE_SUCCESS = 3;
     */
    SUCCESS = 3,
    /**
     * The work failed. This is the last status.
     *
     * @generated from enum value: STATUS_STATE_ERROR = 4;
     */
    ERROR = 4
}
/**
 * Describes the enum toolhost.tool.v1.StatusState.
 */
export declare const StatusStateSchema: GenEnum<StatusState>;
/**
 * LogLevel is the severity of a log record.
 *
 * @generated from enum toolhost.tool.v1.LogLevel
 */
export declare enum LogLevel {
    /**
     * Not set. The same as INFO.
     *
     * @generated from enum value: LOG_LEVEL_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * Details for the author of the tool.
     *
     * @generated from enum value: LOG_LEVEL_DEBUG = 1;
     */
    DEBUG = 1,
    /**
     * Normal operation.
     *
     * @generated from enum value: LOG_LEVEL_INFO = 2;
     */
    INFO = 2,
    /**
     * Something unexpected that does not stop the call.
     *
     * @generated from enum value: LOG_LEVEL_WARN = 3;
     */
    WARN = 3,
    /**
     * A failure.
     *
     * @generated from enum value: LOG_LEVEL_ERROR = 4;
     */
    ERROR = 4
}
/**
 * Describes the enum toolhost.tool.v1.LogLevel.
 */
export declare const LogLevelSchema: GenEnum<LogLevel>;
