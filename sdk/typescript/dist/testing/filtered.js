import { ToolhostError } from "../error.js";
import { decodeAnsweredResult } from "../plugin/filter.js";
/** Converts the end of the call of a filter. */
export function filtered(call) {
    const failed = call.isError ? new ToolhostError("internal", call.text) : call.error;
    const answered = !failed && call.result?.content.some(({ kind }) => kind === "json");
    const fields = (answered ? call.value : {});
    return {
        arguments: fields.arguments,
        deny: fields.deny,
        answer: fields.answer === undefined ? undefined : decodeAnsweredResult(fields.answer),
        result: fields.result === undefined ? undefined : decodeAnsweredResult(fields.result),
        error: failed,
        call,
    };
}
