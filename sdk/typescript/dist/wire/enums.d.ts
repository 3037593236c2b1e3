/** The names of enum values in the SDK, and their numbers in the protocol. */
import type { EffectOperation } from "../content.js";
import type { ErrorKind } from "../error.js";
import { ErrorKind as PbKind } from "../gen/toolhost/tool/v1/error_pb.js";
import { Access } from "../gen/toolhost/tool/v1/permissions_pb.js";
import { EffectOperation as PbOperation } from "../gen/toolhost/tool/v1/result_pb.js";
import { LogLevel as PbLevel, StatusState as PbState } from "../gen/toolhost/tool/v1/status_pb.js";
import type { LogLevel, StatusState } from "../status.js";
/** A mapping between names and numbers of an enum. */
export declare class Words<W extends string, N extends number> {
    #private;
    constructor(numbers: Readonly<Record<W, N>>);
    /**
     * The number of a name. Throws a TypeError for an unknown name, which JavaScript code can pass.
     */
    number(word: W): N;
    /** The name of a number. Undefined for an unknown number. */
    word(number: N): W | undefined;
}
export declare const errorKinds: Words<ErrorKind, PbKind>;
export declare const effectOperations: Words<EffectOperation, PbOperation>;
export declare const statusStates: Words<StatusState, PbState>;
export declare const logLevels: Words<LogLevel, PbLevel>;
export declare const accesses: Words<"none" | "read" | "write", Access>;
