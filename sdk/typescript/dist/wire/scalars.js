/** Conversion of times, durations and JSON values. */
import { create } from "@bufbuild/protobuf";
import { DurationSchema, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { decodeText, encodeJSONBytes, parseJSON } from "../json.js";
/**
 * Converts milliseconds to a Duration. Returns undefined for undefined and for values that are not
 * positive.
 */
export function toDuration(ms) {
    if (ms === undefined || !(ms > 0)) {
        return undefined;
    }
    const seconds = Math.trunc(ms / 1000);
    return create(DurationSchema, {
        seconds: BigInt(seconds),
        nanos: Math.min(Math.round((ms - seconds * 1000) * 1e6), 999_999_999),
    });
}
/**
 * Converts a Duration to milliseconds. Returns undefined for undefined and for values that are not
 * positive.
 */
export function fromDuration(d) {
    const ms = d ? Number(d.seconds) * 1000 + d.nanos / 1e6 : 0;
    return ms > 0 ? ms : undefined;
}
/** Converts a Date to a Timestamp. */
export function toTime(time) {
    return time && timestampFromDate(time);
}
/** Converts a Timestamp to a Date. */
export function fromTime(time) {
    return time && timestampDate(time);
}
/** Returns a text in which U+FFFD replaces lone surrogates, so that UTF-8 can encode it. */
export function wellFormed(text) {
    return text.toWellFormed();
}
/** Encodes JSON values by key. */
export function toValues(values) {
    const encoded = {};
    for (const [key, value] of Object.entries(values ?? {})) {
        if (value !== undefined) {
            encoded[wellFormed(key)] = encodeJSONBytes(value);
        }
    }
    return encoded;
}
/** Decodes JSON values by key. Invalid JSON, which only a faulty peer sends, stays text. */
export function fromValues(values) {
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fromJSONBytes(value)]));
}
/** Decodes a JSON value. Returns undefined for empty bytes. Invalid JSON stays text. */
export function fromJSONBytes(value) {
    if (value.length === 0) {
        return undefined;
    }
    const text = decodeText(value);
    try {
        return parseJSON(text);
    }
    catch {
        return text;
    }
}
/** Cuts a text to a number of bytes. */
export function clip(text, bytes) {
    if (Buffer.byteLength(text) <= bytes) {
        return text;
    }
    // Decoding replaces a character that the cut divided, so the replacement is removed.
    return `${Buffer.from(text)
        .subarray(0, bytes - 3)
        .toString("utf8")
        .replace(/\uFFFD+$/, "")}…`;
}
