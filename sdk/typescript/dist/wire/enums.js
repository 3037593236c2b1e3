import { ErrorKind as PbKind } from "../gen/toolhost/tool/v1/error_pb.js";
import { Access } from "../gen/toolhost/tool/v1/permissions_pb.js";
import { EffectOperation as PbOperation } from "../gen/toolhost/tool/v1/result_pb.js";
import { LogLevel as PbLevel, StatusState as PbState } from "../gen/toolhost/tool/v1/status_pb.js";
/** A mapping between names and numbers of an enum. */
export class Words {
    #numbers;
    #words;
    constructor(numbers) {
        this.#numbers = numbers;
        this.#words = new Map(Object.entries(numbers).map(([word, number]) => [number, word]));
    }
    /**
     * The number of a name. Throws a TypeError for an unknown name, which JavaScript code can pass.
     */
    number(word) {
        const number = this.#numbers[word];
        if (number === undefined) {
            throw new TypeError(`${JSON.stringify(word)} is none of ${Object.keys(this.#numbers).join(", ")}`);
        }
        return number;
    }
    /** The name of a number. Undefined for an unknown number. */
    word(number) {
        return this.#words.get(number);
    }
}
export const errorKinds = new Words({
    invalid_argument: PbKind.INVALID_ARGUMENT,
    not_found: PbKind.NOT_FOUND,
    denied: PbKind.DENIED,
    approval_required: PbKind.APPROVAL_REQUIRED,
    rate_limited: PbKind.RATE_LIMITED,
    timeout: PbKind.TIMEOUT,
    cancelled: PbKind.CANCELLED,
    crashed: PbKind.CRASHED,
    unavailable: PbKind.UNAVAILABLE,
    outcome_unknown: PbKind.OUTCOME_UNKNOWN,
    conflict: PbKind.CONFLICT,
    internal: PbKind.INTERNAL,
    unsupported: PbKind.UNSUPPORTED,
});
export const effectOperations = new Words({
    replace: PbOperation.REPLACE,
    append: PbOperation.APPEND,
    merge: PbOperation.MERGE,
});
export const statusStates = new Words({
    wait: PbState.WAIT,
    doing: PbState.DOING,
    success: PbState.SUCCESS,
    error: PbState.ERROR,
});
export const logLevels = new Words({
    debug: PbLevel.DEBUG,
    info: PbLevel.INFO,
    warn: PbLevel.WARN,
    error: PbLevel.ERROR,
});
export const accesses = new Words({
    none: Access.NONE,
    read: Access.READ,
    write: Access.WRITE,
});
