import { Recorder } from "./spans.js";
import type { WireCall } from "./wirecall.js";
/** The package `@opentelemetry/api`. */
export type API = typeof import("@opentelemetry/api");
/** Runs a function so that its spans, and those of what it starts, belong to a recorder. */
export type Within = <T>(recorder: Recorder, traceparent: string, run: () => T) => T;
/**
 * Runs the work of a call, and sends the spans that it creates. Without OpenTelemetry's API, it
 * just runs the work. Only a recorded call imports the API.
 */
export declare function recordSpans<T>(wire: WireCall, work: () => Promise<T>): Promise<T>;
/**
 * Sets the provider and the context manager of the API, unless the author's code has set its own.
 * Returns a function that runs the work of a call below the call's span. Without a valid
 * traceparent, that function records no spans.
 */
export declare function install(api: API): Within;
