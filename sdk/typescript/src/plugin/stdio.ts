/** Standard output and standard error of a plugin: the handshake's one line, and the log. */
import type { LogLevel } from "../status.js";

/** The environment variable by which a process knows that toolhost started it, and its value. It is no secret. */
const cookie = { key: "TOOLHOST_PLUGIN", value: "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11" } as const;

/** Reports whether toolhost started this process. */
export function startedByToolhost(env: NodeJS.ProcessEnv): boolean {
  return env[cookie.key] === cookie.value;
}

/**
 * Sends what is written to standard output to standard error until the handshake is out: nothing may be printed before
 * it, and code that is loaded before `serve` is called may print. Returns what prints the handshake's line.
 */
function guardStdout(): (line: string) => void {
  const { write } = process.stdout;
  const toStderr = process.stderr.write.bind(process.stderr) as typeof write;
  process.stdout.write = toStderr;
  return (line) => {
    process.stdout.write = write;
    process.stdout.write(line);
  };
}

// This runs when the package is loaded, which is before the plugin's own modules are that it imports after it. Only a plugin's process is
// affected, and only until its handshake.
const printGuarded = startedByToolhost(process.env) ? guardStdout() : (line: string) => void process.stdout.write(line);

/** Prints the handshake's line; from then on standard output is log. */
export function printHandshake(line: string): void {
  // toolhost may be gone at any time, and what is printed then concerns nobody.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  printGuarded(line);
}

/** Writes a line of the log where there is no call to send it with. */
export function logToStderr(level: LogLevel, message: string, attributes: Readonly<Record<string, unknown>> = {}): void {
  const words = Object.entries(attributes).map(([key, value]) => {
    const text = value instanceof Error ? (value.stack ?? String(value)) : typeof value === "string" ? value : inspect(value);
    return ` ${key}=${/^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)}`;
  });
  process.stderr.write(`level=${level.toUpperCase()} msg=${JSON.stringify(message)}${words.join("")}\n`);
}

function inspect(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
