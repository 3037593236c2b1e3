// A plugin's process, without a toolhost around it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { plugin } from "@toolhost/sdk/proto";
import { methodDefinition } from "../dist/wire/rpc.js";
import { fixture, folder, Running } from "./harness.js";

const cookie = "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11";
const { PATH } = process.env;

function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, args, { env: { PATH, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (data: Buffer) => {
    output.stdout += data;
  });
  child.stderr.on("data", (data: Buffer) => {
    output.stderr += data;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...output })));
}

test("started by a person it says what it is", async () => {
  const { code, stdout, stderr } = await run([fixture("bare")]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^bare 1.2.3 is a plugin of toolhost: it ships tools for language models, and toolhost runs it\.\n/);
  assert.match(stderr, /\n {2}echo {17}Does what the test of echo needs\.\n/);
});

test("it describes itself", async () => {
  const { code, stdout } = await run([fixture("bare"), "--describe"]);
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).tools.length, 12);
});

test("it knows no other version of the contract", async () => {
  const { code, stderr } = await run([fixture("bare")], { TOOLHOST_PLUGIN: cookie, PLUGIN_PROTOCOL_VERSIONS: "2,3" });
  assert.equal(code, 1);
  assert.match(stderr, /bare speaks version 1 of toolhost's contract, and toolhost speaks 2,3/);
});

test("it prints its handshake first, and exits when its connection ends before there was a stream", async () => {
  const dir = await folder();
  const env = { PATH, TOOLHOST_PLUGIN: cookie, PLUGIN_PROTOCOL_VERSIONS: "1", PLUGIN_UNIX_SOCKET_DIR: dir };
  const running = new Running(process.execPath, [fixture("play")], env);
  const [core, version, network, socket = "", protocol] = (await running.line()).split("|");
  assert.deepEqual([core, version, network, dirname(socket), protocol], ["1", "1", "unix", dir, "grpc"]);
  const connection = connect(socket);
  connection.on("connect", () => connection.destroy());
  assert.deepEqual(await running.exited, { code: 0, signal: null });
  assert.match(running.stderr, /printed before the handshake/);
  await rm(dir, { recursive: true });
});

test("it exits when its parent is gone before it was connected to", async () => {
  const dir = await folder();
  const env = { PATH, TOOLHOST_PLUGIN: cookie, PLUGIN_UNIX_SOCKET_DIR: dir };
  // The shell starts the plugin beside it and is gone; the plugin keeps standard output, whose end
  // tells that it is gone, too.
  const shell = spawn("/bin/sh", ["-c", `'${process.execPath}' '${fixture("bare")}' & read line`], {
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  let output = "";
  shell.stdout.on("data", (data: Buffer) => {
    output += data;
    shell.stdin.end("\n"); // only now is it seen that the parent goes
  });
  await new Promise((resolve) => shell.stdout.on("close", resolve));
  assert.match(output, /^1\|1\|unix\|/);
  await rm(dir, { recursive: true });
});

test("what its calls say last is heard before it exits", async () => {
  const dir = await folder();
  const env = { PATH, TOOLHOST_PLUGIN: cookie, PLUGIN_PROTOCOL_VERSIONS: "1", PLUGIN_UNIX_SOCKET_DIR: dir };
  const running = new Running(process.execPath, [fixture("bare")], env);
  const [, , , socket = ""] = (await running.line()).split("|");
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = methodDefinition(plugin.ToolPluginService.method.connect);
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  const start = { callId: "c", tool: "wait", complete: true, credit: 1 << 20 };
  stream.write(create(plugin.ConnectRequestSchema, { call: 1, frame: { case: "start", value: start } }));
  const kinds: (string | undefined)[] = [];
  stream.on("error", () => {}); // the process ends
  await new Promise<void>((resolve) => {
    stream.on("close", resolve).on("end", resolve).on("error", resolve);
    stream.on("data", ({ frame }: plugin.ConnectResponse) => {
      kinds.push(frame.case);
      if (frame.case === "status" && kinds.length === 1) {
        const same = (bytes: Buffer) => bytes;
        client.makeUnaryRequest("/plugin.GRPCController/Shutdown", same, same, Buffer.alloc(0), () => {});
      }
    });
  });
  assert.deepEqual(kinds, ["status", "status", "end"]);
  assert.deepEqual(await running.exited, { code: 0, signal: null });
  client.close();
  await rm(dir, { recursive: true });
});
