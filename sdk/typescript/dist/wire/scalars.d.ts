import { type Duration, type Timestamp } from "@bufbuild/protobuf/wkt";
/**
 * Converts milliseconds to a Duration. Returns undefined for undefined and for values that are not
 * positive.
 */
export declare function toDuration(ms: number | undefined): Duration | undefined;
/**
 * Converts a Duration to milliseconds. Returns undefined for undefined and for values that are not
 * positive.
 */
export declare function fromDuration(d: Duration | undefined): number | undefined;
/** Converts a Date to a Timestamp. */
export declare function toTime(time: Date | undefined): Timestamp | undefined;
/** Converts a Timestamp to a Date. */
export declare function fromTime(time: Timestamp | undefined): Date | undefined;
/** Returns a text in which U+FFFD replaces lone surrogates, so that UTF-8 can encode it. */
export declare function wellFormed(text: string): string;
/** Encodes JSON values by key. */
export declare function toValues(values: Readonly<Record<string, unknown>> | undefined): Record<string, Uint8Array>;
/** Decodes JSON values by key. Invalid JSON, which only a faulty peer sends, stays text. */
export declare function fromValues(values: Readonly<Record<string, Uint8Array>>): Record<string, unknown>;
/** Decodes a JSON value. Returns undefined for empty bytes. Invalid JSON stays text. */
export declare function fromJSONBytes(value: Uint8Array): unknown;
/** Cuts a text to a number of bytes. */
export declare function clip(text: string, bytes: number): string;
