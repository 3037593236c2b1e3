/** The names of enum values in the SDK, and their numbers in the protocol. */
import type { EffectOperation } from "../content.js";
import type { ErrorKind } from "../error.js";
import { ErrorKind as PbKind } from "../gen/toolhost/tool/v1/error_pb.js";
import { Access } from "../gen/toolhost/tool/v1/permissions_pb.js";
import { EffectOperation as PbOperation } from "../gen/toolhost/tool/v1/result_pb.js";
import { LogLevel as PbLevel, StatusState as PbState } from "../gen/toolhost/tool/v1/status_pb.js";
import type { LogLevel, StatusState } from "../status.js";

/** A mapping between names and numbers of an enum. */
export class Words<W extends string, N extends number> {
  readonly #numbers: Readonly<Record<W, N>>;
  readonly #words: ReadonlyMap<N, W>;

  constructor(numbers: Readonly<Record<W, N>>) {
    this.#numbers = numbers;
    this.#words = new Map(Object.entries<N>(numbers).map(([word, number]) => [number, word as W]));
  }

  /**
   * The number of a name. Throws a TypeError for an unknown name, which JavaScript code can pass.
   */
  number(word: W): N {
    const number = this.#numbers[word];
    if (number === undefined) {
      throw new TypeError(`${JSON.stringify(word)} is none of ${Object.keys(this.#numbers).join(", ")}`);
    }
    return number;
  }

  /** The name of a number. Undefined for an unknown number. */
  word(number: N): W | undefined {
    return this.#words.get(number);
  }
}

export const errorKinds = new Words<ErrorKind, PbKind>({
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

export const effectOperations = new Words<EffectOperation, PbOperation>({
  replace: PbOperation.REPLACE,
  append: PbOperation.APPEND,
  merge: PbOperation.MERGE,
});

export const statusStates = new Words<StatusState, PbState>({
  wait: PbState.WAIT,
  doing: PbState.DOING,
  success: PbState.SUCCESS,
  error: PbState.ERROR,
});

export const logLevels = new Words<LogLevel, PbLevel>({
  debug: PbLevel.DEBUG,
  info: PbLevel.INFO,
  warn: PbLevel.WARN,
  error: PbLevel.ERROR,
});

export const accesses = new Words<"none" | "read" | "write", Access>({
  none: Access.NONE,
  read: Access.READ,
  write: Access.WRITE,
});
