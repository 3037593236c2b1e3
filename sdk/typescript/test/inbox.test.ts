// The decisions of the inbox, from a server that answers in pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { AgentClient, type InboxChange, type InboxDecision, Toolhost } from "@toolhost/sdk/client";
import * as pb from "../dist/gen/toolhost/decision/v1/decision_service_pb.js";
import { methodDefinition } from "../dist/wire/rpc.js";

test("the inbox has pages, made decisions and unknown kinds", async () => {
  const waiting = { name: "r1/d1", kind: 1, state: 1, runId: "r1", decisionId: "d1", tenant: "acme" };
  const made = { name: "r2/d2", kind: 99, state: 2, runId: "r2", verdict: 2, decidedBy: "uid:7", text: "No." };
  const list = methodDefinition(pb.DecisionService.method.listDecisions);
  const get = methodDefinition(pb.DecisionService.method.getDecision);
  const decide = methodDefinition(pb.DecisionService.method.decide);
  const server = new Server();
  server.addService(
    { list, get, decide },
    {
      list: (call: ServerUnaryCall<pb.ListDecisionsRequest, unknown>, reply: sendUnaryData<unknown>) => {
        const { pageToken, tenants } = call.request;
        assert.deepEqual(tenants, ["acme"]);
        const page = pageToken ? { decisions: [made] } : { decisions: [waiting], nextPageToken: "last" };
        reply(null, create(pb.ListDecisionsResponseSchema, page));
      },
      get: (call: ServerUnaryCall<pb.GetDecisionRequest, unknown>, reply: sendUnaryData<unknown>) => {
        if (call.request.name !== made.name) {
          reply({ code: status.NOT_FOUND, details: "no such decision" });
          return;
        }
        reply(null, create(pb.GetDecisionResponseSchema, { decision: { ...made, etag: "seen" } }));
      },
      decide: (call: ServerUnaryCall<pb.DecideRequest, unknown>, reply: sendUnaryData<unknown>) => {
        const { name, etag, verdict, text, arguments: args, requestId, decidedByName } = call.request;
        if (etag !== "seen") {
          reply({ code: status.ALREADY_EXISTS, details: "something else is asked" });
          return;
        }
        const given = `${requestId} ${decidedByName} ${new TextDecoder().decode(args)}`;
        const decision = { name, state: 2, verdict, text, decidedBy: given };
        reply(null, create(pb.DecideResponseSchema, { decision }));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (e, n) => (e ? reject(e) : resolve(n)));
  });
  try {
    await using agentd = new AgentClient({ address: `127.0.0.1:${port}` });
    const all: InboxDecision[] = [];
    for await (const decision of agentd.inbox({ tenants: ["acme"] })) {
      all.push(decision);
    }
    const [first, second] = all;
    assert.equal(all.length, 2);
    assert.deepEqual([first?.name, first?.kind, first?.waiting, first?.verdict], ["r1/d1", "approval", true, undefined]);
    assert.deepEqual([second?.name, second?.kind], ["r2/d2", undefined]);
    const got = await agentd.inboxDecision("r2/d2");
    assert.deepEqual([got.waiting, got.verdict, got.decidedByPrincipal, got.text], [false, "reject", "uid:7", "No."]);
    const verdict = { verdict: "approve", arguments: { path: "new" }, reason: "fine" } as const;
    const decided = await agentd.decide("r2/d2", got.etag ?? "", verdict, { by: "me", requestId: "q1" });
    const expected = ["approve", "fine", 'q1 me {"path":"new"}', undefined];
    assert.deepEqual([decided.verdict, decided.text, decided.decidedByPrincipal, decided.etag], expected);
    await assert.rejects(agentd.decide("r2/d2", "old", { verdict: "reject" }), { kind: "conflict" });
    await assert.rejects(agentd.inboxDecision("r1/none"), { kind: "not_found" });
  } finally {
    server.forceShutdown();
  }
});

test("a client of toolhost lists and decides held calls, also for another principal", async () => {
  const held = { name: "calls/abcdefghijklmnop", kind: 1, state: 1, tool: "pay", agent: "writer", session: "s", context: "{}" };
  const server = new Server();
  server.addService(
    {
      list: methodDefinition(pb.DecisionService.method.listDecisions),
      get: methodDefinition(pb.DecisionService.method.getDecision),
      decide: methodDefinition(pb.DecisionService.method.decide),
    },
    {
      list: (call: ServerUnaryCall<pb.ListDecisionsRequest, unknown>, reply: sendUnaryData<unknown>) => {
        const { pageToken, pageSize, tenants, onBehalfOf } = call.request;
        const page = pageSize
          ? { decisions: [held], nextPageToken: `${pageToken}+`, unavailable: ["it hangs"], position: "p0" }
          : { decisions: [{ ...held, tenant: tenants.join(), principal: `${onBehalfOf?.tenant}/${onBehalfOf?.name}` }] };
        reply(null, create(pb.ListDecisionsResponseSchema, page));
      },
      get: (call: ServerUnaryCall<pb.GetDecisionRequest, unknown>, reply: sendUnaryData<unknown>) => {
        const decision = { ...held, etag: "seen", principal: call.request.onBehalfOf?.name ?? "" };
        reply(null, create(pb.GetDecisionResponseSchema, { decision }));
      },
      decide: (call: ServerUnaryCall<pb.DecideRequest, unknown>, reply: sendUnaryData<unknown>) => {
        const { name, verdict, text, etag, decidedByName, requestId, onBehalfOf } = call.request;
        const decidedBy = [etag, decidedByName, requestId, onBehalfOf?.name].join();
        reply(null, create(pb.DecideResponseSchema, { decision: { name, state: 2, verdict, text, decidedBy } }));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (e, n) => (e ? reject(e) : resolve(n)));
  });
  try {
    await using toolhost = new Toolhost({ address: `127.0.0.1:${port}`, onBehalfOf: { name: "ada", tenant: "red" } });
    const all: InboxDecision[] = [];
    for await (const decision of toolhost.inbox({ tenants: ["acme"] })) {
      all.push(decision);
    }
    const shown = all.map((d) => [d.name, d.tool, d.agent, d.session, d.context, d.tenant, d.principal]);
    assert.deepEqual(shown, [[held.name, "pay", "writer", "s", "{}", "acme", "red/ada"]]);
    const got = await toolhost.inboxDecision(held.name, { onBehalfOf: { name: "bob" } });
    assert.deepEqual([got.etag, got.principal], ["seen", "bob"]);
    const options = { by: "me", requestId: "q" };
    const made = await toolhost.decide(held.name, "seen", { verdict: "reject", reason: "no" }, options);
    assert.deepEqual([made.verdict, made.text, made.decidedByPrincipal], ["reject", "no", "seen,me,q,ada"]);
    await using agentd = new AgentClient({ address: `127.0.0.1:${port}` });
    const page = await agentd.inboxPage({ pageSize: 7, pageToken: "x" });
    assert.deepEqual(
      [page.decisions.length, page.nextPageToken, page.unavailable, page.position],
      [1, "x+", ["it hangs"], "p0"],
    );
  } finally {
    server.forceShutdown();
  }
});

test("the inbox is watched from a position on", async () => {
  const server = new Server();
  server.addService(
    { watch: methodDefinition(pb.DecisionService.method.watchDecisions) },
    {
      watch: (call: ServerWritableStream<pb.WatchDecisionsRequest, unknown>) => {
        const { position, onBehalfOf } = call.request;
        const waiting = { name: "r1/d1", kind: 1, state: 1, runId: "r1", decisionId: "d1" };
        const changes = [
          { restart: true, source: "r1", decisions: [waiting] },
          { complete: true, position: "p1", unavailable: ["it hangs"] },
          { source: `r1${onBehalfOf?.name ?? ""}`, position: "p2" },
        ];
        for (const change of position ? changes.slice(2) : changes) {
          call.write(create(pb.WatchDecisionsResponseSchema, change));
        }
        call.end();
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (e, n) => (e ? reject(e) : resolve(n)));
  });
  try {
    await using agentd = new AgentClient({ address: `127.0.0.1:${port}` });
    const all: InboxChange[] = [];
    for await (const change of agentd.watchInbox()) {
      all.push(change);
    }
    const [first, second, third] = all;
    assert.equal(all.length, 3);
    assert.deepEqual([first?.restart, first?.source, first?.position], [true, "r1", undefined]);
    assert.deepEqual([first?.decisions[0]?.name, first?.complete], ["r1/d1", false]);
    assert.deepEqual([second?.complete, second?.position, second?.unavailable], [true, "p1", ["it hangs"]]);
    assert.deepEqual([third?.source, third?.decisions, third?.position], ["r1", [], "p2"]);
    await using toolhost = new Toolhost({ address: `127.0.0.1:${port}` });
    for await (const change of toolhost.watchInbox({ position: "p1", onBehalfOf: { name: "ada" } })) {
      assert.equal(change.source, "r1ada");
    }
  } finally {
    server.forceShutdown();
  }
});
