/** Encoding and decoding of JSON text, without the losses of JSON.stringify and JSON.parse. */
/**
 * JSON text that is sent byte for byte. It can replace any JSON value, also inside another value.
 * Use it for numbers that JavaScript would round, and for text that another program has encoded.
 */
export declare class RawJSON {
    /** The text. */
    readonly text: string;
    /** Throws a SyntaxError if the text is not JSON. */
    constructor(text: string);
}
/** Returns JSON text that is sent byte for byte. Throws a SyntaxError if the text is not JSON. */
export declare function rawJSON(text: string): RawJSON;
/**
 * Returns a value as JSON text. A bigint becomes a number with all its digits, and RawJSON its
 * text. Throws a TypeError with advice for values that JSON cannot represent: undefined, functions
 * and cycles, and the values that JSON.stringify would lose silently, which are bytes, files, maps,
 * sets, promises, errors, NaN and infinities.
 */
export declare function encodeJSON(value: unknown): string;
/**
 * Returns a value as JSON text in which what JSON cannot represent became text, and the paths of
 * these parts. A tool that has been executed does not lose its result for such a part. Each object
 * is taken apart once.
 */
export declare function plainJSON(value: unknown): {
    text: string;
    places: string[];
};
/** Returns a value as encoded JSON text; see encodeJSON. */
export declare function encodeJSONBytes(value: unknown): Uint8Array;
/** Decodes UTF-8. Invalid sequences become U+FFFD. */
export declare function decodeText(bytes: Uint8Array): string;
/**
 * Returns the value of JSON text. Integers beyond 2^53, which JSON.parse would round, become a
 * bigint. encodeJSON writes them back with the same digits.
 */
export declare function parseJSON(text: string): unknown;
