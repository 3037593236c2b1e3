/** What a call reports to people while it runs. The model receives none of it. */
/** The state of a call. `success` and `error` are terminal. */
export type StatusState = "wait" | "doing" | "success" | "error";
/** How much of its work a call has done, in a unit that the tool chooses. */
export interface Progress {
    /** The amount done. It must not decrease. */
    readonly done: number;
    /** The total amount. Undefined if it is unknown. */
    readonly total?: number;
    /** One line for people. */
    readonly message?: string;
}
/** A change of what a call shows to people. A missing property stays as it was. */
export interface Status {
    /** The state of the call. */
    readonly state?: StatusState | undefined;
    /** One line for people. */
    readonly message?: string;
    /**
     * A JSON object that is merged into the earlier one: objects recursively, all other values
     * replaced.
     */
    readonly parameters?: Readonly<Record<string, unknown>> | undefined;
    /** The progress of the call. */
    readonly progress?: Progress | undefined;
    /** A JSON value that is shown to people. */
    readonly result?: unknown;
}
/** The level of a log record. */
export type LogLevel = "debug" | "info" | "warn" | "error";
/** One record of the log of a tool. */
export interface LogRecord {
    /** When the tool wrote the record. */
    readonly time: Date;
    /** The level. */
    readonly level: LogLevel;
    /** The message. */
    readonly message: string;
    /** Attributes, as JSON values by key. */
    readonly attributes: Readonly<Record<string, unknown>>;
}
/** Reports whether a state is terminal. */
export declare function isTerminal(state: StatusState | undefined): boolean;
