/** Times, durations and JSON values as messages hold them. */
import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { decodeText, encodeJSONBytes, parseJSON } from "../json.js";

/** A duration of so many milliseconds; undefined for none, and for what is not positive. */
export function toDuration(ms: number | undefined): Duration | undefined {
  if (ms === undefined || !(ms > 0)) {
    return undefined;
  }
  const seconds = Math.trunc(ms / 1000);
  return create(DurationSchema, {
    seconds: BigInt(seconds),
    nanos: Math.min(Math.round((ms - seconds * 1000) * 1e6), 999_999_999),
  });
}

/** A duration in milliseconds; undefined for none, and for what is not positive. */
export function fromDuration(d: Duration | undefined): number | undefined {
  const ms = d ? Number(d.seconds) * 1000 + d.nanos / 1e6 : 0;
  return ms > 0 ? ms : undefined;
}

/** A time as messages hold it. */
export function toTime(time: Date | undefined): Timestamp | undefined {
  return time && timestampFromDate(time);
}

/** A time as programs hold it. */
export function fromTime(time: Timestamp | undefined): Date | undefined {
  return time && timestampDate(time);
}

/** Text that UTF-8 can say: halves of characters are replaced. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/** JSON values by key, encoded. */
export function toValues(values: Readonly<Record<string, unknown>> | undefined): Record<string, Uint8Array> {
  const encoded: Record<string, Uint8Array> = {};
  for (const [key, value] of Object.entries(values ?? {})) {
    if (value !== undefined) {
      encoded[wellFormed(key)] = encodeJSONBytes(value);
    }
  }
  return encoded;
}

/** JSON values by key, decoded. What is no JSON, which only a broken peer sends, is left as text. */
export function fromValues(values: Readonly<Record<string, Uint8Array>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fromJSONBytes(value)]));
}

/** A JSON value, decoded; undefined for none. What is no JSON is left as text. */
export function fromJSONBytes(value: Uint8Array): unknown {
  if (value.length === 0) {
    return undefined;
  }
  const text = decodeText(value);
  try {
    return parseJSON(text);
  } catch {
    return text;
  }
}
