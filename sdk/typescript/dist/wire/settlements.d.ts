import { type Settlement as PbSettlement } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { Settlement } from "../settlement.js";
/**
 * Converts a settlement. It leaves out a result that is too large: that the call happened is worth
 * more than its result. Throws for values of wrong types, and if JSON cannot represent the result.
 */
export declare function toSettlement(callId: string, settlement: Settlement): PbSettlement;
/** Converts a settlement. An unknown verdict gives `unknown`. */
export declare function fromSettlement({ verdict, reason, result }: PbSettlement): Settlement;
