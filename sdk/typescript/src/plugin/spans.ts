/** The spans that the author's code creates during a call with OpenTelemetry's API. */
import { toBinary } from "@bufbuild/protobuf";
import { type Span, SpanSchema } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { WireCall } from "./wirecall.js";

/** The spans of one call that toolhost accepts. */
const maxSpans = 128;
/** The bytes from which on a further frame begins, so that spans do not block other calls for long. */
const frameBytes = 32 << 10;
/** At least the size of a frame without its spans. */
const emptyFrameBytes = 32;
/** At least what a span in a frame adds to its own size. */
const fieldBytes = 6;

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
export class Recorder {
  readonly #wire: WireCall;
  #room: number; // bytes that toolhost still accepts
  #finished: Span[] = [];
  #started = 0;
  #ended = 0;
  #dropped = 0; // spans that were not recorded and not yet reported
  #scheduled = false;
  #closed = false;

  constructor(wire: WireCall) {
    this.#wire = wire;
    this.#room = (wire.start.context?.spanBytes ?? 0) - emptyFrameBytes;
  }

  /** Reports whether one more span is recorded. */
  start(): boolean {
    if (this.#closed || this.#started === maxSpans) {
      this.#dropped++;
      return false;
    }
    this.#started++;
    return true;
  }

  /** Takes a span that has ended. */
  end(span: Span): void {
    if (this.#closed) {
      return;
    }
    this.#ended++;
    this.#finished.push(span);
    if (!this.#scheduled) {
      this.#scheduled = true;
      queueMicrotask(() => this.#flush());
    }
  }

  /** Sends the remaining spans. Spans that have not ended are reported as dropped. */
  close(): void {
    if (!this.#closed) {
      this.#closed = true;
      this.#dropped += this.#started - this.#ended;
      this.#flush();
    }
  }

  #flush(): void {
    const [finished, dropped] = [this.#finished, this.#dropped];
    this.#finished = [];
    this.#dropped = 0;
    this.#scheduled = false;
    this.#send(finished, dropped);
  }

  #send(finished: readonly Span[], droppedBefore: number): void {
    let dropped = droppedBefore;
    let spans: Span[] = [];
    let size = 0;
    for (const span of finished) {
      const cost = toBinary(SpanSchema, span).length + fieldBytes;
      if (cost > this.#room) {
        dropped++;
        continue;
      }
      if (spans.length > 0 && size + cost > frameBytes) {
        this.#put(spans, 0);
        spans = [];
        size = 0;
      }
      spans.push(span);
      size += cost;
      this.#room -= cost;
    }
    if (spans.length > 0 || dropped > 0) {
      this.#put(spans, dropped);
    }
  }

  #put(spans: Span[], dropped: number): void {
    this.#room -= emptyFrameBytes;
    // It rejects if the call is stopped and there is no credit.
    this.#wire.send({ case: "spans", value: { spans, dropped } }, true).catch(() => {});
  }
}
