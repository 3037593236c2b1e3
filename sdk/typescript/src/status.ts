/** What a call shows to people while it runs, and what it logs. The model sees none of it. */

/** Where a call stands, for people. */
export type StatusState = "wait" | "doing" | "success" | "error";

/** How far a call is, in units of the tool's choice. */
export interface Progress {
  /** The amount done. Never falls. */
  readonly done: number;
  /** The amount in all; 0 or unset: unknown. */
  readonly total?: number;
  /** One line for people. */
  readonly message?: string;
}

/** What a call shows to people. What is not set stays as it was. */
export interface Status {
  /** Where the call stands. */
  readonly state?: StatusState | undefined;
  /** One line for people. */
  readonly tip?: string;
  /** A JSON object, merged into the one so far: objects deeply, all else replaced. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** How far the work is. */
  readonly progress?: Progress | undefined;
  /** A JSON value for people to look at. */
  readonly result?: unknown;
}

/** How grave a log record is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** One line of a tool's own log. */
export interface LogRecord {
  /** When it was written. */
  readonly time: Date;
  /** How grave it is. */
  readonly level: LogLevel;
  /** The message. */
  readonly message: string;
  /** Attributes, as JSON values by key. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Reports whether nothing comes after a state. */
export function isTerminal(state: StatusState | undefined): boolean {
  return state === "success" || state === "error";
}
