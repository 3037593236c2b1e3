import { type ServiceError } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
/** Reports whether an error is from gRPC. */
export declare function isServiceError(error: unknown): error is ServiceError;
/** Reports whether an error means that no server answered. */
export declare function unanswered(error: unknown): boolean;
/**
 * Reports whether an error means that the server refused the credentials of an RPC, before executing
 * it. Details come from the code that executes RPCs.
 */
export declare function refusesToken(error: unknown): boolean;
/**
 * Converts an error to a ToolhostError: the error in the details of the status, else one of the
 * matching kind.
 */
export declare function failureOf(error: unknown): ToolhostError;
/**
 * Runs a conversion of what the caller passed, and throws its failure as a ToolhostError of kind
 * `invalid_argument`.
 */
export declare function sayable<T>(form: () => T): T;
