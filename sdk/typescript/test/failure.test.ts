import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { toolError } from "@toolhost/sdk/proto";
import { failureOf, unanswered } from "../dist/client/failure.js";

function serviceError(code: status, details: string, detail?: Uint8Array): ServiceError {
  const metadata = new Metadata();
  if (detail) {
    metadata.set("grpc-status-details-bin", Buffer.from(detail));
  }
  return Object.assign(new Error(details), { code, details, metadata });
}

/** A google.rpc.Status with a detail that is not known, and one that is. */
function statusWith(error: Uint8Array): Uint8Array {
  const any = (type: string, value: Uint8Array) =>
    new BinaryWriter().tag(1, 2).string(`type.googleapis.com/${type}`).tag(2, 2).bytes(value).finish();
  return new BinaryWriter()
    .tag(1, 0)
    .int32(10)
    .tag(2, 2)
    .string("short")
    .tag(3, 2)
    .bytes(any("google.rpc.ErrorInfo", Uint8Array.of(1)))
    .tag(3, 2)
    .bytes(any("toolhost.tool.v1.Error", error))
    .finish();
}

test("a failure is what the server says of it", () => {
  const detail = toBinary(
    toolError.ErrorSchema,
    create(toolError.ErrorSchema, {
      kind: toolError.ErrorKind.OUTCOME_UNKNOWN,
      message: "long",
      retryAfter: { seconds: 1n, nanos: 500_000_000 },
      callId: "c",
      plugin: "p",
      exit: { code: -1, signal: "SIGKILL", lastStderr: ["a", "b"] },
    }),
  );
  const failure = failureOf(serviceError(status.UNAVAILABLE, "short", statusWith(detail)));
  assert.deepEqual(
    [failure.kind, failure.message, failure.retryAfterMs, failure.callId, failure.plugin, failure.exit?.signal],
    ["outcome_unknown", "long", 1500, "c", "p", "SIGKILL"],
  );
  assert.deepEqual(failure.exit?.lastStderr, ["a", "b"]);
});

test("each gRPC code is the nearest kind", () => {
  for (const [code, kind] of [
    [status.INVALID_ARGUMENT, "invalid_argument"],
    [status.UNIMPLEMENTED, "unsupported"],
    [status.NOT_FOUND, "not_found"],
    [status.PERMISSION_DENIED, "denied"],
    [status.FAILED_PRECONDITION, "approval_required"],
    [status.RESOURCE_EXHAUSTED, "rate_limited"],
    [status.DEADLINE_EXCEEDED, "timeout"],
    [status.CANCELLED, "cancelled"],
    [status.ABORTED, "crashed"],
    [status.UNAVAILABLE, "unavailable"],
    [status.DATA_LOSS, "internal"],
    [status.ALREADY_EXISTS, "conflict"],
    [status.INTERNAL, "internal"],
    [status.UNKNOWN, "internal"],
  ] as const) {
    assert.equal(failureOf(serviceError(code, "")).kind, kind);
  }
  assert.equal(failureOf(serviceError(status.NOT_FOUND, "")).message, "NOT_FOUND");
  assert(unanswered(serviceError(status.UNAVAILABLE, "")));
  assert(!unanswered(serviceError(status.UNAVAILABLE, "", statusWith(new Uint8Array()))), "a server said it");
  assert(!unanswered(new Error("x")));
});
