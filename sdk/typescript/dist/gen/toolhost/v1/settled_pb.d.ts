import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/v1/settled.proto.
 */
export declare const file_toolhost_v1_settled: GenFile;
/**
 * Settled is what the tool of a call said when it was asked what became of the call, because the
 * outcome was unknown.
 *
 * @generated from message toolhost.v1.Settled
 */
export type Settled = Message<"toolhost.v1.Settled"> & {
    /**
     * Whether the call had its effect.
     *
     * @generated from field: toolhost.v1.SettledVerdict verdict = 1;
     */
    verdict: SettledVerdict;
    /**
     * How the tool knows, or why it does not. May be empty.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.Settled.
 * Use `create(SettledSchema)` to create a new message.
 */
export declare const SettledSchema: GenMessage<Settled>;
/**
 * SettledVerdict says whether an earlier execution of a call had its effect.
 *
 * @generated from enum toolhost.v1.SettledVerdict
 */
export declare enum SettledVerdict {
    /**
     * Not set.
     *
     * @generated from enum value: SETTLED_VERDICT_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The call had its whole effect, and was not executed again.
     *
     * @generated from enum value: SETTLED_VERDICT_HAPPENED = 1;
     */
    HAPPENED = 1,
    /**
     * The call had no effect. Its id is free for one more execution of the same call, or was executed again.
     *
     * @generated from enum value: SETTLED_VERDICT_DID_NOT_HAPPEN = 2;
     */
    DID_NOT_HAPPEN = 2,
    /**
     * The tool does not know, or could not be asked. The outcome stays unknown.
     *
     * @generated from enum value: SETTLED_VERDICT_UNKNOWN = 3;
     */
    UNKNOWN = 3
}
/**
 * Describes the enum toolhost.v1.SettledVerdict.
 */
export declare const SettledVerdictSchema: GenEnum<SettledVerdict>;
