/** Conversion of RPC failures to ToolhostErrors. */
import { fromBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import { ErrorSchema } from "../gen/toolhost/tool/v1/error_pb.js";
import { fromError } from "../wire/messages.js";
import { fieldBytes } from "./batch.js";
/**
 * The kinds of codes, for servers that say no more. Codes that no kind maps to are read as the
 * nearest.
 */
const kinds = {
    [status.INVALID_ARGUMENT]: "invalid_argument",
    [status.OUT_OF_RANGE]: "invalid_argument",
    [status.UNIMPLEMENTED]: "unsupported",
    [status.NOT_FOUND]: "not_found",
    [status.PERMISSION_DENIED]: "denied",
    [status.UNAUTHENTICATED]: "denied",
    [status.FAILED_PRECONDITION]: "approval_required",
    [status.RESOURCE_EXHAUSTED]: "rate_limited",
    [status.DEADLINE_EXCEEDED]: "timeout",
    [status.CANCELLED]: "cancelled",
    [status.ABORTED]: "crashed",
    [status.UNAVAILABLE]: "unavailable",
    [status.ALREADY_EXISTS]: "conflict",
};
/** Reports whether an error is from gRPC. */
export function isServiceError(error) {
    return error instanceof Error && "code" in error && "details" in error && "metadata" in error;
}
/** Reports whether an error means that no server answered. */
export function unanswered(error) {
    return isServiceError(error) && error.code === status.UNAVAILABLE && detailOf(error) === undefined;
}
/**
 * Reports whether an error means that the server refused the credentials of an RPC, before executing
 * it. Details come from the code that executes RPCs.
 */
export function refusesToken(error) {
    return isServiceError(error) && error.code === status.UNAUTHENTICATED && detailOf(error) === undefined;
}
/**
 * Converts an error to a ToolhostError: the error in the details of the status, else one of the
 * matching kind.
 */
export function failureOf(error) {
    if (error instanceof ToolhostError) {
        return error;
    }
    if (!isServiceError(error)) {
        return new ToolhostError("internal", error instanceof Error ? error.message : String(error), { cause: error });
    }
    const detail = detailOf(error);
    if (detail) {
        return fromError(fromBinary(ErrorSchema, detail), error);
    }
    return new ToolhostError(kinds[error.code] ?? "internal", error.details || (status[error.code] ?? ""), { cause: error });
}
/**
 * Runs a conversion of what the caller passed, and throws its failure as a ToolhostError of kind
 * `invalid_argument`.
 */
export function sayable(form) {
    try {
        return form();
    }
    catch (error) {
        throw new ToolhostError("invalid_argument", error instanceof Error ? error.message : String(error), { cause: error });
    }
}
/** Returns the encoded toolhost.tool.v1.Error in the details of a status, a google.rpc.Status. */
function detailOf(error) {
    const [encoded] = error.metadata.get("grpc-status-details-bin");
    if (!(encoded instanceof Uint8Array)) {
        return undefined;
    }
    return fieldBytes(encoded, 3)
        .map(anyError)
        .find((detail) => detail !== undefined);
}
function anyError(any) {
    const [url] = fieldBytes(any, 1);
    const type = url && Buffer.from(url).toString();
    return type?.endsWith(`/${ErrorSchema.typeName}`) ? (fieldBytes(any, 2)[0] ?? new Uint8Array()) : undefined;
}
