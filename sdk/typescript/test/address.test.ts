import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkOwner, findAddress, formatAddress, parseAddress, runtimes } from "../dist/client/address.js";

test("addresses", () => {
  for (const good of [
    "unix:///run/t.sock",
    "127.0.0.1:80",
    "[::1]:8080",
    "10.0.0.1:80",
    "[2001:db8::1]:80",
    "localhost:80",
    "a.example:1",
  ]) {
    assert.equal(formatAddress(parseAddress(good)), good);
  }
  for (const [bad, why] of [
    ["", /is empty/],
    ["unix://t.sock", /is not absolute/],
    ["unix:///a/", /names a folder/],
    [`unix:///${"a".repeat(103)}`, /has 104 bytes and the kernel takes 103/],
    ["host:0", /is malformed/],
    ["-a:80", /is malformed/],
    ["a..b:80", /is malformed/],
    ["1.2.3:80", /is malformed/],
    ["0.0.0.0:80", /is malformed/],
    ["http://a:80", /is malformed/],
    ["user@a:80", /is malformed/],
    ["127.0.0.1", /is malformed/],
    ["127.0.0.1:70000", /is malformed/],
    ["::1:80", /is malformed/],
  ] as const) {
    assert.throws(() => parseAddress(bad), { kind: "invalid_argument", message: why }, bad);
  }
});

test("where a server is found", () => {
  const find = (given: string | undefined, env: NodeJS.ProcessEnv) => formatAddress(findAddress(given, "toolhost", env));
  assert.equal(find("unix:///a", { TOOLHOST_ADDR: "unix:///b" }), "unix:///a");
  assert.equal(find(undefined, { TOOLHOST_ADDR: "unix:///b", XDG_RUNTIME_DIR: "/run/user/1" }), "unix:///b");
  assert.equal(find("", { XDG_RUNTIME_DIR: "/run/user/1" }), "unix:///run/user/1/toolhost/toolhost.sock");
  const uid = process.getuid?.();
  runtimes.path = mkdtempSync(join(tmpdir(), "run-"));
  assert.equal(find(undefined, {}), `unix:///tmp/toolhost-${uid}/toolhost.sock`);
  const folder = join(runtimes.path, `${uid}`, "toolhost");
  mkdirSync(folder, { recursive: true });
  process.chdir(folder); // the path may be too long for a socket
  const server = createServer().listen("toolhost.sock");
  assert.equal(find(undefined, {}), `unix://${folder}/toolhost.sock`);
  server.close();
  assert.equal(find(undefined, { XDG_RUNTIME_DIR: "relative" }), `unix:///tmp/toolhost-${uid}/toolhost.sock`);
  assert.throws(() => find(undefined, { TOOLHOST_ADDR: "x" }), /the environment's TOOLHOST_ADDR: the address "x" is malformed/);
});

test("a default socket of a stranger", async () => {
  const runtime = await mkdtemp(join(tmpdir(), "address-"));
  const folder = join(runtime, "toolhost");
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, "toolhost.sock"), "");
  const own = findAddress(undefined, "toolhost", { XDG_RUNTIME_DIR: runtime });
  const named = parseAddress(formatAddress(own));
  await checkOwner(own);
  await chmod(folder, 0o777);
  await checkOwner(named);
  await assert.rejects(checkOwner(own), /can be written by others/);
  await chmod(folder, 0o700);
  if (process.getuid?.() === 0) {
    await chown(folder, 4321, 4321);
    await checkOwner(named);
    await assert.rejects(checkOwner(own), /belongs to another user \(uid 4321\); if you trust that user/);
  }
  await rm(runtime, { recursive: true });
});
