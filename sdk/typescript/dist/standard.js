/**
 * The types of Standard Schema (standardschema.dev), which zod, valibot, arktype and other
 * libraries implement. The specification asks libraries to copy these types, so that they need no
 * dependency.
 */
/** Returns one line for each issue. `whole` names the value itself. */
export function issueLines(issues, whole) {
    return issues.map((issue) => `- ${pathOf(issue) || whole}: ${issue.message}`);
}
function pathOf({ path = [] }) {
    let text = "";
    for (const part of path) {
        const key = typeof part === "object" ? part.key : part;
        text += typeof key === "number" ? `[${key}]` : `${text && "."}${String(key)}`;
    }
    return text;
}
