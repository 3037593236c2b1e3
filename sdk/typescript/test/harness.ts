// Real programs: a toolhost with plugins of this package, and an agentd.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Toolhost } from "@toolhost/sdk/client";

/** The folder with the programs under test; the Makefile says where they were built. */
const programs = resolve(process.env.TOOLHOST_BIN ?? join(import.meta.dirname, "../../../bin"));

export function program(name: string): string {
  const path = join(programs, name);
  if (!existsSync(path)) {
    throw new Error(`${path} is not there; run \`make typescript\` in the repository's folder, which builds it`);
  }
  return path;
}

/** A module of the fixtures. */
export const fixture = (name: string): string => join(import.meta.dirname, "fixture", `${name}.js`);

/** A program that runs, and what it says. */
export class Running {
  readonly process: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stderr = "";
  readonly #lines: AsyncIterator<string>;

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.process = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.exited = once(this.process, "exit").then(([code, signal]) => ({ code, signal }));
    this.process.stderr?.on("data", (data: Buffer) => {
      this.stderr += data;
    });
    this.#lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  /** The next line of standard output. */
  async line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) {
      throw new Error(`the program has ended:\n${this.stderr}`);
    }
    return next.value;
  }

  async stop(): Promise<void> {
    this.process.kill("SIGTERM");
    await this.exited;
  }
}

/** A folder whose path is short enough for a socket. */
export async function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "ts-"));
}

export interface Host {
  readonly address: string;
  readonly home: string;
  readonly running: Running;
  close(): Promise<void>;
}

/** Starts a toolhost with fixtures as its plugins, at an address if it has to be one. */
export async function startToolhost(plugins: readonly string[], config = "", at?: string): Promise<Host> {
  const home = await folder();
  const dir = join(home, "plugins");
  await mkdir(dir);
  await mkdir(join(home, "work"));
  // The fixtures are in the checkout, and Node may be anywhere; a sandbox would hide both.
  const checkout = join(import.meta.dirname, "..");
  const node = dirname(dirname(process.execPath));
  await writeFile(join(home, "toolhost.yaml"), `defaults: {sandbox: {read: [${checkout}, ${node}]}}\n${config}`);
  for (const name of plugins) {
    await writeFile(join(dir, name), `#!/bin/sh\nexec '${process.execPath}' '${fixture(name)}'\n`, { mode: 0o700 });
  }
  const address = at ?? `unix://${join(home, "t.sock")}`;
  const args = [
    "serve",
    "--plugins",
    dir,
    "--listen",
    address,
    "--state",
    join(home, "state"),
    "--workspace",
    join(home, "work"),
  ];
  const env = { HOME: home, PATH: process.env.PATH, TMPDIR: home };
  const running = new Running(
    program("toolhost"),
    [...args, "--config", join(home, "toolhost.yaml"), "--log-level", "debug"],
    env,
  );
  await running.line();
  await asked(address, plugins);
  return {
    address,
    home,
    running,
    async close() {
      await running.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/**
 * Waits until a toolhost knows the tools of its plugins: on a machine with much to do it is ready
 * before that.
 */
async function asked(address: string, plugins: readonly string[]): Promise<void> {
  const client = new Toolhost({ address });
  await eventually("the plugins are asked", async () => {
    const tools = await client.listTools();
    return plugins.every((name) => tools.some(({ plugin }) => plugin === name));
  });
  client.close();
}

/** Waits until a condition holds. */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > deadline) {
      throw new Error(`waited in vain: ${what}`);
    }
    await new Promise((go) => setTimeout(go, 10));
  }
}
