/** Paths in messages: relative to the workspace. */

import { realpathSync } from "node:fs";
import { dirname, normalize } from "node:path";

// A path does not begin after a character of a name, and does not end before one. A full stop or a hyphen belongs to a
// name if the name goes on after it.
const before = "(?:file://|(?<![\\p{L}\\p{N}_/.\\-]))";
const after = "(?![.\\-]*[\\p{L}\\p{N}_])";
const end = /^(?:$|[\s'"`:;,)\]}>])/;

/**
 * Returns a text in which absolute paths of files in a folder are relative to it, and the folder itself is ".". Tools pass
 * on errors of the operating system, which name absolute paths. A model has no use for the part that leads to the
 * workspace, and a reader of the conversation would learn from it how the machine is laid out. The rule is that of Go's
 * SDK; both are tested with the same texts.
 */
export function relativeTo(folder: string, text: string): string {
  if (folder === "" || dirname(folder) === folder) {
    return text;
  }
  const given = without(normalize(folder).replace(/\/$/, ""), text);
  try {
    const resolved = realpathSync(folder);
    return dirname(resolved) === resolved ? given : without(resolved, given);
  } catch {
    return given; // the folder is out of reach, and no link
  }
}

/** Takes a folder, which ends in no slash, out of a text wherever it stands as the beginning of a path. */
function without(folder: string, text: string): string {
  const escaped = folder.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return text.replace(new RegExp(`${before}${escaped}${after}/*`, "gu"), (found, at: number) =>
    end.test(text.slice(at + found.length)) ? "." : "",
  );
}
