/** Encoding and decoding of JSON text, without the losses of JSON.stringify and JSON.parse. */
/**
 * JSON text that is sent byte for byte. It can replace any JSON value, also inside another value.
 * Use it for numbers that JavaScript would round, and for text that another program has encoded.
 */
export class RawJSON {
    /** The text. */
    text;
    /** Throws a SyntaxError if the text is not JSON. */
    constructor(text) {
        JSON.parse(text);
        this.text = text;
    }
}
/** Returns JSON text that is sent byte for byte. Throws a SyntaxError if the text is not JSON. */
export function rawJSON(text) {
    return new RawJSON(text);
}
/**
 * Returns a value as JSON text. A bigint becomes a number with all its digits, and RawJSON its
 * text. Throws a TypeError with advice for values that JSON cannot represent: undefined, functions
 * and cycles, and the values that JSON.stringify would lose silently, which are bytes, files, maps,
 * sets, promises, errors, NaN and infinities.
 */
export function encodeJSON(value) {
    if (value instanceof RawJSON) {
        return value.text;
    }
    const verbatim = [];
    // The mark is unguessable, so no string in the value can be equal to it.
    const mark = `raw-${crypto.randomUUID()}-`;
    const text = stringify(value, function (key, part) {
        if (typeof part === "bigint" || part instanceof RawJSON) {
            verbatim.push(typeof part === "bigint" ? part.toString() : part.text);
            return `${mark}${verbatim.length - 1}`;
        }
        const loss = lossOf(this[key]) ?? lossOf(part); // before and after toJSON, which a Buffer has
        if (loss) {
            throw new TypeError(`${key && `${JSON.stringify(key)}: `}${loss}`);
        }
        return part;
    });
    if (text === undefined) {
        throw new TypeError(`a value of type ${typeof value} has no JSON form; use an object, a list, a text or a number`);
    }
    if (verbatim.length === 0) {
        return text;
    }
    return text.replace(new RegExp(`"${mark}(\\d+)"`, "g"), (_, index) => verbatim[Number(index)] ?? "null");
}
function stringify(value, replacer) {
    try {
        return JSON.stringify(value, replacer);
    }
    catch (error) {
        if (error instanceof RangeError) {
            throw new TypeError("the value is nested too deeply for JSON; make it flatter", { cause: error });
        }
        if (error instanceof TypeError && error.message.includes("circular")) {
            const words = `the value holds itself, which has no JSON form; make it one without the cycle (${error.message})`;
            throw new TypeError(words.replace(/\s+/g, " "), { cause: error });
        }
        throw error;
    }
}
/** Returns why JSON.stringify would lose a value, or undefined if it would not. */
function lossOf(value) {
    if (typeof value === "number" && !Number.isFinite(value)) {
        return `${value} has no JSON form; use null or a text`;
    }
    if (typeof value !== "object" || value === null) {
        return undefined;
    }
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
        return "bytes have no JSON form; return them with image() or file(), or make them a text";
    }
    if (value instanceof Map || value instanceof Set) {
        const advice = value instanceof Map ? "make it an object with Object.fromEntries()" : "make it a list with [...set]";
        return `a ${value.constructor.name} has no JSON form; ${advice}`;
    }
    if (value instanceof Promise) {
        return "a promise has no JSON form; await it";
    }
    if (value instanceof Blob) {
        return "a file has no JSON form; return it with file(await part.bytes())";
    }
    if (value instanceof Error && !("toJSON" in value)) {
        return "an error has no JSON form; throw it, or use its message";
    }
    return undefined;
}
/** plainJSON takes a value apart to this depth, and into this many parts. */
const MAX_DEPTH = 32;
const MAX_PARTS = 1000;
/**
 * Returns a value as JSON text in which what JSON cannot represent became text, and the paths of
 * these parts. A tool that has been executed does not lose its result for such a part. Each object
 * is taken apart once.
 */
export function plainJSON(value) {
    const places = [];
    const opened = new Set();
    const plain = (part, path, depth) => {
        try {
            return new RawJSON(encodeJSON(part));
        }
        catch { } // it is taken apart
        const closed = depth === MAX_DEPTH || opened.size === MAX_PARTS || opened.has(part);
        if (typeof part === "object" && part !== null && !closed && !isLeaf(part)) {
            opened.add(part);
            try {
                if (Array.isArray(part) || part instanceof Set) {
                    return [...part].map((e, i) => (e === undefined ? null : plain(e, `${path}[${i}]`, depth + 1)));
                }
                const entries = (part instanceof Map ? [...part] : Object.entries(part)).filter(([, v]) => v !== undefined);
                return Object.fromEntries(entries.map(([k, v]) => [String(k), plain(v, path ? `${path}.${String(k)}` : String(k), depth + 1)]));
            }
            catch { } // a getter threw
        }
        places.push(path || "the whole");
        return textOf(part);
    };
    return { text: encodeJSON(plain(value, "", 0)), places };
}
/** Reports whether a value is not taken apart. An object that encodes itself may hide properties. */
function isLeaf(value) {
    return ("toJSON" in value ||
        ArrayBuffer.isView(value) ||
        value instanceof ArrayBuffer ||
        value instanceof Error ||
        value instanceof Blob ||
        value instanceof Promise);
}
function textOf(value) {
    if (value instanceof Error) {
        return value.message;
    }
    return typeof value === "number" ? `${value}` : `a value of type ${Object.prototype.toString.call(value).slice(8, -1)}`;
}
/** Returns a value as encoded JSON text; see encodeJSON. */
export function encodeJSONBytes(value) {
    return Buffer.from(encodeJSON(value));
}
/** Decodes UTF-8. Invalid sequences become U+FFFD. */
export function decodeText(bytes) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
/**
 * Returns the value of JSON text. Integers beyond 2^53, which JSON.parse would round, become a
 * bigint. encodeJSON writes them back with the same digits.
 */
export function parseJSON(text) {
    if (!/\d{16}/.test(text)) {
        return JSON.parse(text);
    }
    JSON.parse(text); // rejects invalid JSON before the text is changed
    const mark = `big-${crypto.randomUUID()}-`;
    const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) => /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token);
    return JSON.parse(marked, (_, value) => typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value);
}
