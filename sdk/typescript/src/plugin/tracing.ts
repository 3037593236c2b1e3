/**
 * An implementation of OpenTelemetry's tracing API whose spans a Recorder sends to toolhost. It
 * imports only the types of `@opentelemetry/api`, an optional peer dependency, so that a bundler can
 * build a plugin without that package.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { performance } from "node:perf_hooks";
import { create } from "@bufbuild/protobuf";
import type {
  Attributes,
  Context,
  ContextManager,
  Exception,
  Span,
  SpanContext,
  SpanOptions,
  SpanStatus,
  SpanStatusCode,
  TimeInput,
  Tracer,
} from "@opentelemetry/api";
import {
  type SpanAttribute,
  SpanAttributeSchema,
  SpanEventSchema,
  type Span as SpanMessage,
  SpanSchema,
  SpanStatus as Status,
} from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { encodeJSON } from "../json.js";
import { wellFormed } from "../wire/scalars.js";
import { Recorder } from "./spans.js";
import type { WireCall } from "./wirecall.js";

/** The bytes of the name of a span, an event or an attribute. */
const maxName = 128;
/** The bytes of a text value. */
const maxText = 1024;
const maxAttributes = 32;
const maxEvents = 32;
const maxEventAttributes = 8;

/** TraceFlags.SAMPLED of the API. */
const sampled = 1;
/** SpanStatusCode of the API. */
const statusOK: SpanStatusCode.OK = 1;
const statusError: SpanStatusCode.ERROR = 2;

/** The package `@opentelemetry/api`. */
export type API = typeof import("@opentelemetry/api");

/** Runs a function so that its spans, and those of what it starts, belong to a recorder. */
export type Within = <T>(recorder: Recorder, traceparent: string, run: () => T) => T;

let loading: Promise<Within | undefined> | undefined;

/**
 * Runs the work of a call, and sends the spans that it creates. Without OpenTelemetry's API, it
 * just runs the work. Only a recorded call imports the API.
 */
export async function recordSpans<T>(wire: WireCall, work: () => Promise<T>): Promise<T> {
  // Bundlers accept an unknown package in an import() whose failure the code handles.
  loading ??= import("@opentelemetry/api").then(install, () => undefined);
  const within = await loading;
  if (!within) {
    return work();
  }
  const recorder = new Recorder(wire);
  try {
    return await within(recorder, wire.start.context?.traceparent ?? "", work);
  } finally {
    recorder.close();
  }
}

/**
 * Sets the provider and the context manager of the API, unless the author's code has set its own.
 * Returns a function that runs the work of a call below the call's span. Without a valid
 * traceparent, that function records no spans.
 */
export function install(api: API): Within {
  const key = api.createContextKey("toolhost recorder");
  const tracer = new RecordingTracer(api, key);
  // Both return false and change nothing if the author's code has set its own.
  api.context.setGlobalContextManager(new Contexts(api.ROOT_CONTEXT));
  api.trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return (recorder, traceparent, run) => {
    const [, traceId = "", spanId = ""] = traceparent.split("-");
    const parent: SpanContext = { traceId, spanId, isRemote: true, traceFlags: sampled };
    if (!api.trace.isSpanContextValid(parent)) {
      return run();
    }
    return api.context.with(api.trace.setSpanContext(api.context.active().setValue(key, recorder), parent), run);
  };
}

/** Keeps the context of asynchronous code. */
class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  readonly #root: Context;

  constructor(root: Context) {
    this.#root = root;
  }

  active(): Context {
    return this.#storage.getStore() ?? this.#root;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(context, () => fn.apply(thisArg, args));
  }

  bind<T>(context: Context, target: T): T {
    if (target instanceof EventEmitter) {
      const emit = target.emit;
      target.emit = (...args) => this.#storage.run(context, () => emit.apply(target, args));
      return target;
    }
    if (typeof target !== "function") {
      return target;
    }
    const storage = this.#storage;
    return function (this: unknown, ...args: unknown[]) {
      return storage.run(context, () => target.apply(this, args));
    } as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

/** Creates spans for the recorder in their context. toolhost sets their instrumentation scope. */
class RecordingTracer implements Tracer {
  readonly #api: API;
  readonly #key: symbol; // of the recorder in a context

  constructor(api: API, key: symbol) {
    this.#api = api;
    this.#key = key;
  }

  startSpan(name: string, options: SpanOptions = {}, context: Context = this.#api.context.active()): Span {
    const parent = this.#api.trace.getSpanContext(context);
    const recorder = context.getValue(this.#key);
    if (parent && recorder instanceof Recorder && recorder.start()) {
      return new RecordedSpan(recorder, parent, name, options);
    }
    return this.#api.trace.wrapSpanContext(parent ?? this.#api.INVALID_SPAN_CONTEXT);
  }

  startActiveSpan<F extends (span: Span) => unknown>(name: string, ...rest: unknown[]): ReturnType<F> {
    const fn = rest.pop() as F;
    const [options, context = this.#api.context.active()] = rest as [SpanOptions?, Context?];
    const span = this.startSpan(name, options, context);
    return this.#api.context.with(this.#api.trace.setSpan(context, span), fn as (span: Span) => ReturnType<F>, undefined, span);
  }
}

/** A span that is recorded. It is bounded from its start. The contract has no links. */
class RecordedSpan implements Span {
  readonly #recorder: Recorder;
  readonly #context: SpanContext;
  readonly #data: SpanMessage;
  #over = false;

  constructor(recorder: Recorder, parent: SpanContext, name: string, { kind, attributes, startTime, root }: SpanOptions) {
    const id = randomBytes(8);
    this.#recorder = recorder;
    this.#context = { traceId: parent.traceId, spanId: id.toString("hex"), traceFlags: sampled };
    this.#data = create(SpanSchema, {
      spanId: id,
      parentSpanId: root ? new Uint8Array() : Buffer.from(parent.spanId, "hex"),
      name: cut(name, maxName),
      startTimeUnixNano: nanoseconds(startTime),
      kind: (kind ?? 0) + 1, // the contract begins with "unspecified"
    });
    set(this.#data.attributes, attributes, maxAttributes);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return !this.#over;
  }

  setAttribute(key: string, value: unknown): this {
    return this.setAttributes({ [key]: value });
  }

  setAttributes(attributes: Attributes): this {
    if (!this.#over) {
      set(this.#data.attributes, attributes, maxAttributes);
    }
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.#over || this.#data.events.length === maxEvents) {
      return this;
    }
    const onlyTime = isTime(attributesOrTime);
    const event = create(SpanEventSchema, {
      name: cut(name, maxName),
      timeUnixNano: nanoseconds(onlyTime ? attributesOrTime : time),
    });
    set(event.attributes, onlyTime ? {} : attributesOrTime, maxEventAttributes);
    this.#data.events.push(event);
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus({ code, message = "" }: SpanStatus): this {
    if (this.#over || this.#data.status === Status.OK) {
      return this;
    }
    if (code === statusOK) {
      this.#data.status = Status.OK;
      this.#data.statusMessage = "";
    } else if (code === statusError) {
      this.#data.status = Status.ERROR;
      this.#data.statusMessage = cut(message, maxText);
    }
    return this;
  }

  updateName(name: string): this {
    if (!this.#over) {
      this.#data.name = cut(name, maxName);
    }
    return this;
  }

  end(endTime?: TimeInput): void {
    if (!this.#over) {
      this.#over = true;
      this.#data.endTimeUnixNano = nanoseconds(endTime);
      this.#recorder.end(this.#data);
    }
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const { code, name, message, stack } =
      typeof exception === "string" ? { message: exception } : (exception as Partial<Error> & { code?: unknown });
    const described = {
      "exception.type": code !== undefined ? String(code) : name,
      "exception.message": message,
      "exception.stacktrace": stack,
    };
    this.addEvent("exception", described, time);
  }
}

function isTime(value: unknown): value is TimeInput {
  return typeof value === "number" || value instanceof Date || Array.isArray(value);
}

/**
 * Converts a time to nanoseconds since the epoch. A number is milliseconds, since the epoch or, if
 * it is smaller than the start of the process, since that start, as performance.now() returns.
 */
function nanoseconds(time: TimeInput | undefined): bigint {
  let ms = performance.timeOrigin + performance.now();
  if (Array.isArray(time)) {
    return BigInt.asUintN(64, BigInt(Math.trunc(time[0])) * 1_000_000_000n + BigInt(Math.trunc(time[1])));
  }
  if (time instanceof Date) {
    ms = time.getTime();
  } else if (time !== undefined) {
    ms = time < performance.timeOrigin ? performance.timeOrigin + time : time;
  }
  // A double has no room for the nanoseconds of a date.
  const whole = Math.trunc(ms);
  return ms > 0 && Number.isFinite(ms) ? BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6)) : 0n;
}

/** Sets attributes in a list, which never gets more than `most`. */
function set(attributes: SpanAttribute[], more: Attributes | undefined, most: number): void {
  for (const [name, value] of Object.entries(more ?? {})) {
    if (!name || value === undefined || value === null) {
      continue;
    }
    const key = cut(name, maxName);
    const attribute = create(SpanAttributeSchema, { key, value: attributeValue(value) });
    const at = attributes.findIndex((a) => a.key === key);
    if (at >= 0) {
      attributes[at] = attribute;
    } else if (attributes.length < most) {
      attributes.push(attribute);
    }
  }
}

/** Converts a value to one of the four kinds of the contract. Lists and objects become JSON text. */
function attributeValue(value: unknown): SpanAttribute["value"] {
  switch (typeof value) {
    case "boolean":
      return { case: "truth", value };
    case "number":
      return Number.isSafeInteger(value) ? { case: "integer", value: BigInt(value) } : { case: "number", value };
    case "bigint":
      if (BigInt.asIntN(64, value) === value) {
        return { case: "integer", value };
      }
      break;
    case "object":
      try {
        return { case: "text", value: cut(encodeJSON(value), maxText) };
      } catch {
        break; // it has no JSON form
      }
  }
  return { case: "text", value: cut(String(value), maxText) };
}

/** Returns the beginning of a text, at most `size` bytes in UTF-8. */
function cut(text: string, size: number): string {
  const bytes = Buffer.from(wellFormed(text));
  if (bytes.length <= size) {
    return wellFormed(text);
  }
  let end = size;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end--; // inside a character
  }
  return bytes.toString("utf8", 0, end);
}
