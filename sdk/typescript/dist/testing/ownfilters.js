/** The filters that a plugin applies to its own tools, around a call in a test. */
import { ToolhostError } from "../error.js";
import { encodeJSON } from "../json.js";
/** Runs a tool with the filters that its plugin applies to it, the first one outermost. */
export async function callFiltered(filters, call, { host, run, refused }) {
    let args = call.arguments ?? {};
    for (const filter of filters.filter((f) => f.before)) {
        const got = await host.before(filter.name, { ...call, arguments: args });
        if (got.error) {
            return refused(failure(filter, got.error));
        }
        if (got.deny !== undefined) {
            return refused(new ToolhostError("denied", `the filter "${filter.name}" denied the call: ${got.deny}`));
        }
        if (got.answer) {
            const what = `the filter "${filter.name}" answered in place of the tool "${call.tool}", to which its plugin applies it`;
            return refused(new ToolhostError("internal", what));
        }
        args = got.arguments ?? args;
    }
    const { done, executed } = await run(encodeJSON(args));
    const followers = executed ? filters.filter((f) => f.after).reverse() : [];
    for (const filter of followers) {
        if (!done.result) {
            break;
        }
        const got = await host.after(filter.name, { ...call, arguments: args, result: done.result });
        done.result = got.error ? undefined : (got.result ?? done.result);
        done.error = got.error && failure(filter, got.error);
    }
    return done;
}
function failure(filter, error) {
    return new ToolhostError("unavailable", `the filter "${filter.name}" failed: ${error.message}`);
}
