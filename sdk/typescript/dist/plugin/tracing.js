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
import { SpanAttributeSchema, SpanEventSchema, SpanSchema, SpanStatus as Status, } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { encodeJSON } from "../json.js";
import { wellFormed } from "../wire/scalars.js";
import { Recorder } from "./spans.js";
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
const statusOK = 1;
const statusError = 2;
let loading;
/**
 * Runs the work of a call, and sends the spans that it creates. Without OpenTelemetry's API, it
 * just runs the work. Only a recorded call imports the API.
 */
export async function recordSpans(wire, work) {
    // Bundlers accept an unknown package in an import() whose failure the code handles.
    loading ??= import("@opentelemetry/api").then(install, () => undefined);
    const within = await loading;
    if (!within) {
        return work();
    }
    const recorder = new Recorder(wire);
    try {
        return await within(recorder, wire.start.context?.traceparent ?? "", work);
    }
    finally {
        recorder.close();
    }
}
/**
 * Sets the provider and the context manager of the API, unless the author's code has set its own.
 * Returns a function that runs the work of a call below the call's span. Without a valid
 * traceparent, that function records no spans.
 */
export function install(api) {
    const key = api.createContextKey("toolhost recorder");
    const tracer = new RecordingTracer(api, key);
    // Both return false and change nothing if the author's code has set its own.
    api.context.setGlobalContextManager(new Contexts(api.ROOT_CONTEXT));
    api.trace.setGlobalTracerProvider({ getTracer: () => tracer });
    return (recorder, traceparent, run) => {
        const [, traceId = "", spanId = ""] = traceparent.split("-");
        const parent = { traceId, spanId, isRemote: true, traceFlags: sampled };
        if (!api.trace.isSpanContextValid(parent)) {
            return run();
        }
        return api.context.with(api.trace.setSpanContext(api.context.active().setValue(key, recorder), parent), run);
    };
}
/** Keeps the context of asynchronous code. */
class Contexts {
    #storage = new AsyncLocalStorage();
    #root;
    constructor(root) {
        this.#root = root;
    }
    active() {
        return this.#storage.getStore() ?? this.#root;
    }
    with(context, fn, thisArg, ...args) {
        return this.#storage.run(context, () => fn.apply(thisArg, args));
    }
    bind(context, target) {
        if (target instanceof EventEmitter) {
            const emit = target.emit;
            target.emit = (...args) => this.#storage.run(context, () => emit.apply(target, args));
            return target;
        }
        if (typeof target !== "function") {
            return target;
        }
        const storage = this.#storage;
        return function (...args) {
            return storage.run(context, () => target.apply(this, args));
        };
    }
    enable() {
        return this;
    }
    disable() {
        this.#storage.disable();
        return this;
    }
}
/** Creates spans for the recorder in their context. toolhost sets their instrumentation scope. */
class RecordingTracer {
    #api;
    #key; // of the recorder in a context
    constructor(api, key) {
        this.#api = api;
        this.#key = key;
    }
    startSpan(name, options = {}, context = this.#api.context.active()) {
        const parent = this.#api.trace.getSpanContext(context);
        const recorder = context.getValue(this.#key);
        if (parent && recorder instanceof Recorder && recorder.start()) {
            return new RecordedSpan(recorder, parent, name, options);
        }
        return this.#api.trace.wrapSpanContext(parent ?? this.#api.INVALID_SPAN_CONTEXT);
    }
    startActiveSpan(name, ...rest) {
        const fn = rest.pop();
        const [options, context = this.#api.context.active()] = rest;
        const span = this.startSpan(name, options, context);
        return this.#api.context.with(this.#api.trace.setSpan(context, span), fn, undefined, span);
    }
}
/** A span that is recorded. It is bounded from its start. The contract has no links. */
class RecordedSpan {
    #recorder;
    #context;
    #data;
    #over = false;
    constructor(recorder, parent, name, { kind, attributes, startTime, root }) {
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
    spanContext() {
        return this.#context;
    }
    isRecording() {
        return !this.#over;
    }
    setAttribute(key, value) {
        return this.setAttributes({ [key]: value });
    }
    setAttributes(attributes) {
        if (!this.#over) {
            set(this.#data.attributes, attributes, maxAttributes);
        }
        return this;
    }
    addEvent(name, attributesOrTime, time) {
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
    addLink() {
        return this;
    }
    addLinks() {
        return this;
    }
    setStatus({ code, message = "" }) {
        if (this.#over || this.#data.status === Status.OK) {
            return this;
        }
        if (code === statusOK) {
            this.#data.status = Status.OK;
            this.#data.statusMessage = "";
        }
        else if (code === statusError) {
            this.#data.status = Status.ERROR;
            this.#data.statusMessage = cut(message, maxText);
        }
        return this;
    }
    updateName(name) {
        if (!this.#over) {
            this.#data.name = cut(name, maxName);
        }
        return this;
    }
    end(endTime) {
        if (!this.#over) {
            this.#over = true;
            this.#data.endTimeUnixNano = nanoseconds(endTime);
            this.#recorder.end(this.#data);
        }
    }
    recordException(exception, time) {
        const { code, name, message, stack } = typeof exception === "string" ? { message: exception } : exception;
        const described = {
            "exception.type": code !== undefined ? String(code) : name,
            "exception.message": message,
            "exception.stacktrace": stack,
        };
        this.addEvent("exception", described, time);
    }
}
function isTime(value) {
    return typeof value === "number" || value instanceof Date || Array.isArray(value);
}
/**
 * Converts a time to nanoseconds since the epoch. A number is milliseconds, since the epoch or, if
 * it is smaller than the start of the process, since that start, as performance.now() returns.
 */
function nanoseconds(time) {
    let ms = performance.timeOrigin + performance.now();
    if (Array.isArray(time)) {
        return BigInt.asUintN(64, BigInt(Math.trunc(time[0])) * 1000000000n + BigInt(Math.trunc(time[1])));
    }
    if (time instanceof Date) {
        ms = time.getTime();
    }
    else if (time !== undefined) {
        ms = time < performance.timeOrigin ? performance.timeOrigin + time : time;
    }
    // A double has no room for the nanoseconds of a date.
    const whole = Math.trunc(ms);
    return ms > 0 && Number.isFinite(ms) ? BigInt(whole) * 1000000n + BigInt(Math.round((ms - whole) * 1e6)) : 0n;
}
/** Sets attributes in a list, which never gets more than `most`. */
function set(attributes, more, most) {
    for (const [name, value] of Object.entries(more ?? {})) {
        if (!name || value === undefined || value === null) {
            continue;
        }
        const key = cut(name, maxName);
        const attribute = create(SpanAttributeSchema, { key, value: attributeValue(value) });
        const at = attributes.findIndex((a) => a.key === key);
        if (at >= 0) {
            attributes[at] = attribute;
        }
        else if (attributes.length < most) {
            attributes.push(attribute);
        }
    }
}
/** Converts a value to one of the four kinds of the contract. Lists and objects become JSON text. */
function attributeValue(value) {
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
            }
            catch {
                break; // it has no JSON form
            }
    }
    return { case: "text", value: cut(String(value), maxText) };
}
/** Returns the beginning of a text, at most `size` bytes in UTF-8. */
function cut(text, size) {
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
