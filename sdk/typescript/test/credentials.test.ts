// TLS, client certificates and tokens, before a toolhost that checks them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerOptions,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { AgentClient, type ClientOptions, Toolhost, ToolhostError } from "@toolhost/sdk/client";
import { toolhost as contract, toolError } from "@toolhost/sdk/proto";
import { methodDefinition } from "../dist/wire/rpc.js";
import { CA, replace } from "./certificates.js";
import { folder } from "./harness.js";

const { ConnectResponseSchema, GetVersionResponseSchema, ToolService, WatchCallResponseSchema } = contract;
type Event = NonNullable<MessageInitShape<typeof WatchCallResponseSchema>["event"]>;
type Stream = ServerDuplexStream<contract.ConnectRequest, unknown>;

const warnings: string[] = [];
process.on("warning", (warning) => warnings.push(String(warning)));

/**
 * A toolhost that counts what it executes. It refuses RPCs without a token of `tokens`, and new calls
 * on a stream whose token is no longer in `tokens`. The tool `hold` ends when the test says so.
 */
class Guarded {
  tokens: Set<string> | undefined;
  executed = 0;
  refused = 0;
  streams = 0;
  readonly bearers = new Set<string>();
  readonly held: (() => void)[] = [];
  onHold = () => {};
  readonly #server: Server;

  constructor(options: ServerOptions = {}) {
    this.#server = new Server(options);
    const { getVersion, watchCall, connect } = ToolService.method;
    const [version, watch, calls] = [methodDefinition(getVersion), methodDefinition(watchCall), methodDefinition(connect)];
    this.#server.addService({ version, watch, calls } as never, {
      version: (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
        if (this.#accepts(call.metadata)) {
          this.executed++;
          answer(null, create(GetVersionResponseSchema, { version: { version: "9.9.9" } }));
        } else {
          answer(refusal);
        }
      },
      watch: (call: ServerWritableStream<unknown, unknown>) => {
        if (this.#accepts(call.metadata)) {
          call.write(create(WatchCallResponseSchema, { event: ended() }));
          call.end();
        } else {
          call.emit("error", refusal);
        }
      },
      calls: (stream: Stream) => this.#connect(stream),
    });
  }

  #accepts(metadata: Metadata): boolean {
    const bearer = metadata.get("authorization").join("|");
    this.bearers.add(bearer);
    const fine = this.tokens === undefined || this.tokens.has(bearer.replace("Bearer ", ""));
    this.refused += fine ? 0 : 1;
    return fine;
  }

  #connect(stream: Stream): void {
    if (!this.#accepts(stream.metadata)) {
      stream.emit("error", refusal);
      return;
    }
    this.streams++;
    stream.sendMetadata(new Metadata());
    stream.on("data", ({ call, frame }: contract.ConnectRequest) => {
      if (frame.case !== "start") {
        return;
      }
      if (!this.#accepts(stream.metadata)) {
        const message = "the credential of this stream has expired; the call was not executed";
        stream.write(create(ConnectResponseSchema, { call, event: ended({ kind: toolError.ErrorKind.UNAVAILABLE, message }) }));
        return;
      }
      this.executed++;
      const end = () => stream.write(create(ConnectResponseSchema, { call, event: ended() }));
      if (frame.value.tool === "hold") {
        this.held.push(end);
        this.onHold();
      } else {
        end();
      }
    });
    stream.on("end", () => stream.end());
    stream.on("error", () => {});
  }

  async listen(credentials: ServerCredentials, address = "127.0.0.1:0"): Promise<string> {
    const port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(address, credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    return address.startsWith("unix:") ? address : `127.0.0.1:${port}`;
  }

  close(): void {
    this.#server.forceShutdown();
  }
}

const refusal = { code: status.UNAUTHENTICATED, details: "no valid credential" };

function ended(error?: object): Event {
  const outcome = error ? { case: "error", value: error } : { case: "result", value: {} };
  return { event: { case: "ended", value: { outcome } } } as Event;
}

let home: string;
let ca: CA;
let other: CA;
const servers: Guarded[] = [];

before(async () => {
  home = await folder();
  ca = new CA(home, "ca");
  other = new CA(home, "other");
});

after(() => {
  for (const server of servers) {
    server.close();
  }
});

function secured(name: string, signer = ca, clients?: CA): ServerCredentials {
  const { certificate, key } = signer.issue(name);
  const pair = { cert_chain: readFileSync(certificate), private_key: readFileSync(key) };
  return ServerCredentials.createSsl(clients?.pem ?? null, [pair], clients !== undefined);
}

async function serve(credentials: ServerCredentials, address?: string, options?: ServerOptions): Promise<[Guarded, string]> {
  const server = new Guarded(options);
  servers.push(server);
  return [server, await server.listen(credentials, address)];
}

/** Uses a client, and returns the error kind of what fails. */
async function using(options: ClientOptions, work: (toolhost: Toolhost) => Promise<unknown>): Promise<string | undefined> {
  const toolhost = new Toolhost(options);
  try {
    await work(toolhost);
    return undefined;
  } catch (error) {
    assert(error instanceof ToolhostError, inspect(error));
    assert(!inspect(error, { depth: 20 }).includes("secret"), inspect(error, { depth: 20 }));
    return error.kind;
  } finally {
    toolhost.close();
  }
}

const any = (toolhost: Toolhost) => toolhost.call("any");

/** Runs work with environment variables. */
async function withEnv(variables: Record<string, string>, work: () => Promise<void>): Promise<void> {
  Object.assign(process.env, variables);
  try {
    await work();
  } finally {
    for (const name of Object.keys(variables)) {
      delete process.env[name];
    }
  }
}

test("TLS", async () => {
  const [server, address] = await serve(secured("toolhost.test"));
  const serverName = "toolhost.test";
  const token = "secret-1";
  assert.equal(await using({ address, tls: { ca: ca.path, serverName } }, any), undefined);
  for (const tls of [
    { ca: other.path, serverName },
    { serverName },
    { ca: ca.path, serverName: "other.test" },
    { ca: ca.path },
  ]) {
    assert.equal(await using({ address, tls, token }, any), "unavailable");
  }
  await assert.rejects(new Toolhost({ address, tls: { ca: other.path, serverName } }).version(), /certificate/);
  assert(!server.bearers.has("Bearer secret-1"), "a server that was not verified has received a token");
  const env = { TOOLHOST_ADDR: address, TOOLHOST_TLS_CA: ca.path, TOOLHOST_TLS_SERVER_NAME: serverName };
  await withEnv(env, async () => {
    assert.equal(await using({}, any), undefined);
    assert.equal(await using({ ignoreEnvironment: true }, any), "unavailable");
  });
});

test("an IP address is no server name", async () => {
  const [, address] = await serve(secured("127.0.0.1"));
  const [, elsewhere] = await serve(secured("127.0.0.2"));
  const tls = { ca: ca.path };
  assert.equal(await using({ address, tls }, any), undefined);
  assert.equal(await using({ address: elsewhere, tls }, any), "unavailable");
  assert.equal(await using({ address: elsewhere, tls: { ...tls, serverName: "127.0.0.2" } }, any), undefined);
  assert.deepEqual(warnings, []); // of Node, which warns once about a process
});

test("mutual TLS", async () => {
  const [, address] = await serve(secured("127.0.0.1", ca, ca));
  const pair = ca.issue("spiffe://test/ada");
  assert.equal(await using({ address, tls: { ca: ca.path, ...pair } }, any), undefined);
  assert.equal(await using({ address, tls: { ca: ca.path } }, any), "unavailable");
  const { key } = other.issue("a");
  const broken = join(home, "broken");
  replace(broken, "no PEM");
  const wrong = [{ certificate: pair.certificate }, { key }, { ca: "/absent" }, { ca: broken }, { ...pair, key }];
  for (const tls of wrong) {
    assert.throws(() => new Toolhost({ address, tls }), { kind: "invalid_argument" });
  }
  assert.throws(() => new Toolhost({ address: "unix:///t.sock", tls: {} }), /is a unix socket/);
});

test("the files of TLS are read again", async () => {
  const file = join(home, "roots.pem");
  replace(file, ca.pem);
  const [first, address] = await serve(secured("127.0.0.1"));
  const toolhost = new Toolhost({ address, tls: { ca: file } });
  await toolhost.call("any");
  first.close();
  const [again] = await serve(secured("127.0.0.1", other), address);
  await assert.rejects(toolhost.version(), { kind: "unavailable" });
  replace(file, "half of a fi");
  await assert.rejects(toolhost.version(), { kind: "unavailable" });
  replace(file, other.pem);
  await toolhost.call("any");
  await toolhost.version();
  assert.equal(again.executed, 2);
  toolhost.close();
});

test("a token is not sent without TLS", async () => {
  for (const listen of [`unix://${join(home, "t.sock")}`, "127.0.0.1:0"]) {
    const [server, address] = await serve(ServerCredentials.createInsecure(), listen);
    const token = "secret-2";
    server.tokens = new Set([token]);
    assert.throws(
      () => new Toolhost({ address, token }),
      (error: ToolhostError) => /TOOLHOST_ALLOW_PLAIN_TOKEN/.test(error.message) && !/secret/.test(error.message),
    );
    assert.equal(await using({ address, token, allowPlainToken: true }, any), undefined);
    assert.equal(await using({ address }, any), "denied");
    await withEnv({ TOOLHOST_TOKEN: token }, async () => {
      assert.throws(() => new Toolhost({ address }), /a token in TOOLHOST_TOKEN,/);
    });
    await withEnv({ TOOLHOST_TOKEN: token, TOOLHOST_ALLOW_PLAIN_TOKEN: "1" }, async () => {
      assert.equal(await using({ address }, any), undefined);
    });
  }
});

for (const source of ["file", "command", "function"] as const) {
  test(`a token from a ${source} is renewed when it is refused`, async () => {
    const [server, address] = await serve(secured("127.0.0.1"));
    const file = join(home, `token-${source}`);
    let fetched = 0;
    const produce = () => {
      fetched++;
      return readFileSync(file, "utf8");
    };
    const options = { file: { tokenFile: file }, command: { tokenCommand: `cat '${file}'` }, function: { token: produce } };
    const rotate = (token: string) => {
      replace(file, `${token}\n`);
      server.tokens = new Set([token]);
    };
    rotate("first");
    const toolhost = new Toolhost({ address, tls: { ca: ca.path }, ...options[source] });
    await toolhost.call("any");
    rotate("second");
    await toolhost.call("any");
    rotate("third");
    await toolhost.version();
    rotate("fourth");
    for await (const event of toolhost.watchCall("x")) {
      assert.equal(event.type, "ended");
    }
    assert.equal(server.executed, 3);
    server.tokens = new Set(["unknown"]);
    const refusedBefore = server.refused;
    await assert.rejects(toolhost.version(), { kind: "denied", message: /does not accept the credentials/ });
    assert.equal(server.refused, refusedBefore + 1, "the source has no other token");
    assert.equal(fetched, source === "function" ? 5 : 0);
    toolhost.close();
  });
}

test("an expired token does not end running calls", async () => {
  const [server, address] = await serve(secured("127.0.0.1"));
  let count = 0;
  const toolhost = new Toolhost({ address, tls: { ca: ca.path }, token: () => String(++count) });
  server.tokens = new Set(["1"]);
  const begun = new Promise<void>((resolve) => {
    server.onHold = resolve;
  });
  const running = toolhost.call("hold");
  await begun;
  server.tokens = new Set(["2"]);
  await toolhost.call("any");
  server.held[0]?.();
  await running;
  assert.deepEqual([server.streams, server.executed], [2, 2]);
  toolhost.close();
});

test("a token is renewed before it expires", async () => {
  const [server, address] = await serve(secured("127.0.0.1"));
  server.tokens = new Set(["1", "2"]);
  let count = 0;
  const token = () => ({ value: String(++count), expires: count === 1 ? new Date(Date.now() + 1200) : undefined });
  const toolhost = new Toolhost({ address, tls: { ca: ca.path }, token });
  while (count < 2) {
    await toolhost.call("any");
  }
  await toolhost.call("any");
  assert.deepEqual([server.refused, server.streams], [0, 2]);
  toolhost.close();
});

test("calls survive the age of connections", async () => {
  const age = { "grpc.max_connection_age_ms": 100, "grpc.max_connection_age_grace_ms": 5000 };
  const [server, address] = await serve(secured("127.0.0.1"), undefined, age);
  const toolhost = new Toolhost({ address, tls: { ca: ca.path } });
  while (server.streams < 4) {
    await toolhost.call("any");
  }
  toolhost.close();
});

test("a token is not printed", async () => {
  const tls = {};
  const address = "127.0.0.1:1";
  const toolhost = new Toolhost({ address, tls, token: "secret-3" });
  assert(!inspect(toolhost, { depth: 20, showHidden: true }).includes("secret"));
  toolhost.close();
  for (const token of ["", "secret 3", "secrét", "secret".repeat(10_000), () => Buffer.from("secret") as never]) {
    assert.equal(await using({ address, tls, token }, (client) => client.version()), "unavailable");
  }
  const failing = new Toolhost({ address, tls, tokenCommand: "echo secret; exit 7" });
  await assert.rejects(failing.version(), (error) => /exit status 7/.test(String(error)) && !/secret/.test(inspect(error)));
});

test("one source of tokens", async () => {
  assert.throws(() => new Toolhost({ address: "h:1", token: "a", tokenFile: "b" }), /token, tokenFile/);
  await withEnv({ AGENTD_TOKEN: "a", AGENTD_TOKEN_FILE: "b" }, async () => {
    assert.throws(() => new AgentClient({ address: "h:1" }), /AGENTD_TOKEN, AGENTD_TOKEN_FILE/);
  });
});
