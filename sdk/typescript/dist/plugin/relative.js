/** Removal of the workspace path from messages. */
import { realpathSync } from "node:fs";
import { dirname, normalize } from "node:path";
// A match must not start or end in the middle of a longer file name. A full stop or a hyphen is
// part of a name only if more of the name follows.
const before = "(?:file://|(?<![\\p{L}\\p{N}_/.\\-]))";
const after = "(?![.\\-]*[\\p{L}\\p{N}_])";
const end = /^(?:$|[\s'"`:;,)\]}>])/;
/**
 * Replaces absolute paths below a folder by relative ones, and the folder itself by ".". Tools pass
 * on errors of the operating system, which contain absolute paths. The model cannot use the part up
 * to the workspace, and it would show readers of the conversation how the machine is organized. The
 * Go SDK has the same rule, and both pass the same tests.
 */
export function relativeTo(folder, text) {
    if (folder === "" || dirname(folder) === folder) {
        return text;
    }
    const given = without(normalize(folder).replace(/\/$/, ""), text);
    try {
        const resolved = realpathSync(folder);
        return dirname(resolved) === resolved ? given : without(resolved, given);
    }
    catch {
        return given; // the folder does not exist or is not readable
    }
}
/** Removes a folder, given without a trailing slash, from the start of every path in a text. */
function without(folder, text) {
    const escaped = folder.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    return text.replace(new RegExp(`${before}${escaped}${after}/*`, "gu"), (found, at) => end.test(text.slice(at + found.length)) ? "." : "");
}
