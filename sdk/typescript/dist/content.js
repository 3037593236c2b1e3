/** Results of calls: blocks of content, effects, token usage and cost. */
import { encodeJSON, parseJSON, plainJSON } from "./json.js";
/** The result of a call, which the model reads. */
export class Result {
    /** The blocks, in order. */
    content;
    /** Whether the tool reports a failure. */
    isError;
    /** Changes to the run context. */
    effects;
    /** The model tokens that the call used. Undefined if it used none. */
    usage;
    /** The cost of the call. 0 means the declared cost per use. */
    cost;
    /** Further JSON values by key. Keys that begin with `toolhost.` are reserved. */
    metadata;
    /** How long the tool ran, in milliseconds. */
    durationMs;
    /** Use `result`. */
    constructor(init) {
        const { content = [] } = init;
        const blocks = typeof content === "string" || isContent(content) ? [content] : content;
        this.content = blocks.map((block) => (typeof block === "string" ? text(block) : block));
        this.isError = init.isError ?? false;
        this.effects = init.effects ?? [];
        this.usage = init.usage;
        this.cost = init.cost ?? 0;
        this.metadata = init.metadata ?? {};
        this.durationMs = init.durationMs ?? 0;
    }
    /** All blocks as text. An image, file or artifact becomes a line that describes it. */
    get text() {
        return this.content.map(asText).join("\n");
    }
    /**
     * The value of the only JSON block. Throws a TypeError if the result does not have exactly one
     * JSON block.
     */
    get value() {
        const [block, ...more] = this.content.filter(({ kind }) => kind === "json");
        if (block?.kind !== "json" || more.length > 0) {
            const count = block ? more.length + 1 : 0;
            throw new TypeError(`the result has ${count} blocks of JSON, not one; it says: ${this.text}`);
        }
        return block.value;
    }
}
/** Returns a result, for tools that return several blocks, effects, a cost or metadata. */
export function result(init) {
    return new Result(init);
}
/** Returns a block of plain text or Markdown. */
export function text(content) {
    return block({ kind: "text", text: content });
}
/** Returns a block of one JSON value. Throws if JSON cannot represent the value. */
export function json(value) {
    return jsonText(encodeJSON(value));
}
/** Returns an image. Throws a TypeError for an invalid media type. */
export function image(data, options = {}) {
    return checked("image", data, { mediaType: "image/png", name: "", ...options });
}
/** Returns a file. Throws a TypeError for an invalid media type. */
export function file(data, options = {}) {
    return checked("file", data, { mediaType: "application/octet-stream", name: "", ...options });
}
function checked(kind, data, { mediaType, name }) {
    if (!/^[^/\s]+\/[^/\s]/.test(mediaType) || !(data instanceof Uint8Array)) {
        throw new TypeError(`${kind}(bytes, { mediaType, name }) takes a Uint8Array and a media type such as image/png`);
    }
    return blob(kind, mediaType, name, data);
}
/** Returns an image or file without validating it, because toolhost sent it. */
export function blob(kind, mediaType, name, data) {
    return block({ kind, mediaType, name, data });
}
/** Returns a block that passes an artifact on by its handle. */
export function artifact(init) {
    const { handle, mediaType = "", size = 0, head = "", tail = "", name = "" } = init;
    return block({ kind: "artifact", handle, mediaType, size, head, tail, name });
}
/** Returns a block of JSON text without validating the text. */
export function jsonText(encoded) {
    let decoded;
    return block({
        kind: "json",
        json: encoded,
        get value() {
            decoded ??= { value: parseJSON(encoded) };
            return decoded.value;
        },
    });
}
// Symbol.for shares the symbol with other copies of this package in the same program.
const brand = Symbol.for("toolhost.content");
function block(content) {
    Object.defineProperty(content, brand, { value: true });
    return Object.freeze(content);
}
/** Reports whether one of the functions of this module created a value. */
export function isContent(value) {
    return typeof value === "object" && value !== null && brand in value;
}
/** The parts of a value that a warning names. */
const MAX_NAMED = 5;
/**
 * Converts the return value of a tool to a result. What JSON cannot represent becomes text, and
 * warn gets a message that names it. Throws for a list of blocks that holds other values.
 */
export function resultOf(value, warn = () => { }) {
    if (value === undefined || value === null) {
        return result({});
    }
    if (value instanceof Result) {
        return value;
    }
    if (typeof value === "string" || isContent(value)) {
        return result({ content: value });
    }
    if (Array.isArray(value) && value.some(isContent)) {
        const odd = value.find((element) => typeof element !== "string" && !isContent(element));
        if (odd !== undefined) {
            throw new TypeError(`a list with blocks of content also holds ${describe(odd)}; make it a block with json()`);
        }
        return result({ content: value });
    }
    try {
        return result({ content: json(value) });
    }
    catch (error) {
        const { text, places } = plainJSON(value);
        const named = places.slice(0, MAX_NAMED).join(", ") || "a part of it";
        warn(`the result cannot be encoded as JSON, so that ${named} became text: ${error instanceof Error ? error.message : error}`);
        return result({ content: jsonText(text) });
    }
}
function describe(value) {
    return value === null ? "null" : `a value of type ${typeof value}`;
}
function asText(content) {
    switch (content.kind) {
        case "text":
            return content.text;
        case "json":
            return content.json;
        case "artifact":
            return artifactText(content);
        default:
            return `[${content.kind}${content.name && ` ${content.name}`}, ${content.mediaType}, ${content.data.length} bytes]`;
    }
}
function artifactText(a) {
    const shown = Buffer.byteLength(a.head) + Buffer.byteLength(a.tail);
    const advice = "A tool that takes the handle of an artifact can be given it, to read the rest or to work with the whole.]";
    if (shown === 0) {
        const what = ["content", a.name, a.mediaType].filter(Boolean).join(", ");
        return `[${what}, ${a.size} bytes, not shown: it is kept as artifact ${a.handle}. ${advice}`;
    }
    const head = a.head.endsWith("\n") ? a.head : `${a.head}\n`;
    return `${head}[Here ${a.size - shown} of ${a.size} bytes are not shown. The whole is kept as artifact ${a.handle}. ${advice}\n${a.tail}`;
}
