/** Conversion of settlements between the types of the SDK and the messages. */
import { create, toBinary } from "@bufbuild/protobuf";
import { resultOf } from "../content.js";
import { SettlementSchema, SettlementVerdict } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { ResultSchema } from "../gen/toolhost/tool/v1/result_pb.js";
import { Words } from "./enums.js";
import { fromResult, toResult } from "./messages.js";
import { clip } from "./scalars.js";
const maxReasonBytes = 1 << 10;
/** The largest result, because no chunks come before a settlement. */
const maxResultBytes = 1 << 20;
const verdicts = new Words({
    happened: SettlementVerdict.HAPPENED,
    did_not_happen: SettlementVerdict.DID_NOT_HAPPEN,
    unknown: SettlementVerdict.UNKNOWN,
});
/**
 * Converts a settlement. It leaves out a result that is too large: that the call happened is worth
 * more than its result. Throws for values of wrong types, and if JSON cannot represent the result.
 */
export function toSettlement(callId, settlement) {
    const { verdict, reason = "" } = settlement;
    const known = settlement.verdict === "happened" && settlement.result !== undefined;
    const message = known ? toResult(resultOf(settlement.result)) : undefined;
    const small = message && toBinary(ResultSchema, message).length <= maxResultBytes;
    return create(SettlementSchema, {
        callId,
        verdict: verdicts.number(verdict),
        reason: clip(reason, maxReasonBytes),
        ...(small && { result: message }),
    });
}
/** Converts a settlement. An unknown verdict gives `unknown`. */
export function fromSettlement({ verdict, reason, result }) {
    const word = verdicts.word(verdict) ?? "unknown";
    if (word !== "happened") {
        return { verdict: word, reason };
    }
    return { verdict: word, reason, ...(result && { result: fromResult(result) }) };
}
