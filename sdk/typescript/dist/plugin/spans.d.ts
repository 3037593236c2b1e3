import { type Span } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { WireCall } from "./wirecall.js";
/**
 * Collects the finished spans of one call and sends them to toolhost.
 *
 * The problem: a plugin has no network, and only toolhost knows whether a call is recorded. So the
 * global TracerProvider creates spans for the recorder in their context, and the recorder sends
 * them in frames of the call. It sends a span soon after its end, so that the trace of a call that
 * crashes or times out shows what the tool had done before.
 *
 * At most `maxSpans` spans of a call are recorded. The bound applies to starts, not to ends. A
 * parent starts before its children, so a recorded span never loses its parent to the bound.
 */
export declare class Recorder {
    #private;
    constructor(wire: WireCall);
    /** Reports whether one more span is recorded. */
    start(): boolean;
    /** Takes a span that has ended. */
    end(span: Span): void;
    /** Sends the remaining spans. Spans that have not ended are reported as dropped. */
    close(): void;
}
