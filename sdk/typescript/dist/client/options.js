import { ToolhostError } from "../error.js";
import { encodeJSONBytes } from "../json.js";
import { issueLines } from "../standard.js";
import { toKinds } from "../wire/questions.js";
import { toDuration, toTime, toValues } from "../wire/scalars.js";
import { onBehalfOfField } from "./identity.js";
/** Reports whether arguments arrive in pieces. */
export function isStream(args) {
    return typeof args === "object" && args !== null && Symbol.asyncIterator in args;
}
/** Returns complete arguments as JSON text. Throws if JSON cannot represent them. */
export function argumentBytes(args) {
    if (typeof args === "string") {
        return Buffer.from(args);
    }
    return args instanceof Uint8Array ? args : encodeJSONBytes(args);
}
/** Converts the options of a call to their message. Throws if JSON cannot represent a value. */
export function optionsMessage(options) {
    const { callId = "", session = "", approval, context, traceparent = "", maxShownBytes, ledgerId = "" } = options;
    const { agent = "", run = "", approvalWaitMs } = options;
    const timeout = toDuration(options.timeoutMs);
    const firstSentTime = toTime(options.firstSent);
    const time = toTime(approval?.time);
    const answers = toKinds(options.answers ?? []);
    return {
        callId,
        session,
        traceparent,
        context: toValues(context),
        ...(timeout && { timeout }),
        ...(approvalWaitMs !== undefined && { approvalWait: toDuration(approvalWaitMs) ?? {} }),
        ...(maxShownBytes !== undefined && { maxShownBytes: BigInt(maxShownBytes) }),
        ledgerId,
        agent,
        run,
        ...onBehalfOfField(options.onBehalfOf),
        ...(firstSentTime && { firstSentTime }),
        ...(answers && { answers }),
        ...(approval && {
            approval: {
                approvedBy: approval.approvedBy,
                reason: approval.reason ?? "",
                ...(time && { time }),
                arguments: approval.arguments ? encodeJSONBytes(approval.arguments) : new Uint8Array(),
                argumentsSha256: approval.argumentsSha256 ?? "",
                sessionMove: approval.sessionMove ?? "",
            },
        }),
    };
}
/**
 * Adds the validated value to an outcome. Throws a ToolhostError of kind `internal` if the result
 * does not fit.
 */
export async function typedOutcome(outcome, schema) {
    const { result, callId } = outcome;
    if (result.isError) {
        return { ...outcome, value: undefined };
    }
    const value = onlyValue(outcome);
    const validated = await schema["~standard"].validate(value);
    if (validated.issues) {
        const message = `the result does not fit the expected type:\n${issueLines(validated.issues, "result").join("\n")}`;
        throw new ToolhostError("internal", message, { callId });
    }
    return { ...outcome, value: validated.value };
}
function onlyValue({ result, callId }) {
    try {
        return result.value;
    }
    catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new ToolhostError("internal", message, { callId, cause: error });
    }
}
