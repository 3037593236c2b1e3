/** Filters: functions that toolhost runs before and after calls of tools of any plugin. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import { json, Result, result } from "../content.js";
import { ToolhostError } from "../error.js";
import { ResultSchema } from "../gen/toolhost/tool/v1/result_pb.js";
import { encodeJSON, parseJSON, rawJSON } from "../json.js";
import { fromResult, toResult } from "../wire/messages.js";
/** Runs a filter, and returns its answer in the form that toolhost expects. */
export async function askFilter(filter, question, own) {
    const { phase, call } = decodeQuestion(question);
    const answer = phase === "before" ? await filter.before?.(call, own) : await filter.after?.(call, own);
    if (!answer) {
        return result({});
    }
    const allowed = phase === "before" ? ["arguments", "deny", "answer"] : ["result"];
    const members = Object.entries(answer).filter(([, value]) => value !== undefined);
    if (members.length === 0) {
        return result({});
    }
    const [member, value] = members[0];
    if (members.length > 1 || !allowed.includes(member)) {
        const names = members.map(([name]) => name).join(", ");
        throw new ToolhostError("internal", `the filter returned ${names}; ${phase} the call it must return one of ${allowed.join(", ")}`);
    }
    return result({ content: json({ [member]: value instanceof Result ? resultJSON(value) : value }) });
}
function decodeQuestion(text) {
    // The result is a protobuf message in JSON form, so it is decoded separately.
    const question = parseJSON(text);
    const { phase } = question;
    if (phase !== "before" && phase !== "after") {
        throw new ToolhostError("internal", `the filter does not know the phase ${encodeJSON(phase ?? null)}`);
    }
    const asked = JSON.parse(text).result;
    return {
        phase,
        call: {
            callId: question.call_id || undefined,
            principal: question.principal ?? "",
            session: question.session || undefined,
            tool: question.tool ?? "",
            plugin: question.plugin ?? "",
            arguments: question.arguments ?? {},
            result: asked === undefined ? result({}) : fromResult(fromJson(ResultSchema, asked, { ignoreUnknownFields: true })),
        },
    };
}
function resultJSON(value) {
    return rawJSON(JSON.stringify(toJson(ResultSchema, toResult(value))));
}
/** Encodes the request of a filter, for tests of filters. */
export function encodeQuestion(phase, call) {
    const { callId, principal, session, tool, plugin, arguments: args = {}, result: answered } = call;
    return encodeJSON({
        phase,
        call_id: callId,
        principal,
        session,
        tool,
        plugin,
        arguments: args,
        ...(answered && { result: resultJSON(answered) }),
    });
}
/** Decodes the result in the answer of a filter, for tests of filters. */
export function decodeAnsweredResult(value) {
    return fromResult(fromJson(ResultSchema, value));
}
