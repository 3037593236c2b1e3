/** The view that a tool has of its call. */
import { parseJSON } from "../json.js";
/** Decodes the values of the run context that a tool declares. */
export function sessionContext(encoded, keys) {
    const values = Object.create(null);
    for (const key of keys) {
        const text = Object.hasOwn(encoded, key) ? encoded[key] : undefined;
        if (text) {
            values[key] = parseJSON(Buffer.from(text).toString("utf8"));
        }
    }
    return values;
}
/** Returns the progress for the arguments of `Call.progress`. */
export function progressOf(done, total, message) {
    return { done, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
}
