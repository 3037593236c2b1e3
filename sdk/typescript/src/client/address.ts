/** Addresses of servers: their syntax, the default sockets, and the check of socket owners. */
import { constants, lstatSync } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { dirname, join, normalize } from "node:path";
import { ToolhostError } from "../error.js";

/**
 * The longest path of a socket in bytes: the limit of macOS, the smallest of all supported systems.
 */
const maxSocketPath = 103;
const unixScheme = "unix://";

/** Where a server is: a unix socket, or a TCP port of a host. */
export interface Address {
  /** The absolute path of the socket. Undefined for TCP. */
  readonly path?: string;
  /** The port of a DNS name or an IP address. Undefined for a socket. */
  readonly tcp?: { readonly host: string; readonly port: number };
  /** Whether it is the default socket of this user, because no address is configured. */
  readonly own?: boolean;
}

/** Parses an address: unix:///PATH or HOST:PORT. */
export function parseAddress(text: string): Address {
  if (text.startsWith(unixScheme)) {
    return { path: socketPath(text.slice(unixScheme.length)) };
  }
  if (text === "") {
    throw wrong("the address is empty; use unix:///PATH or HOST:PORT");
  }
  const [, v6, name, digits] = /^(?:\[([^\]]+)\]|([^:@/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name ?? "";
  const port = Number(digits);
  if (!(port > 0 && port <= 65535) || !(v6 ? isIP(v6) === 6 : isHost(host)) || unspecified.has(host)) {
    throw wrong(`the address ${JSON.stringify(text)} is malformed; use unix:///PATH or HOST:PORT`);
  }
  return { tcp: { host, port } };
}

const unspecified: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Reports whether a text is an IPv4 address or has the form of a DNS name. */
function isHost(host: string): boolean {
  const labels = host.replace(/\.$/, "").split(".");
  // A name whose last label has only digits is a malformed IPv4 address.
  const named = host.length <= 253 && labels.every((label) => /^(?!-)[\w-]{1,63}(?<!-)$/.test(label));
  return isIP(host) === 4 || (named && !/^\d+$/.test(labels.at(-1) ?? ""));
}

/** Reports whether an address is an IP address of loopback. */
export function isLoopback({ tcp }: Address): boolean {
  return tcp !== undefined && (tcp.host === "::1" || (isIP(tcp.host) === 4 && tcp.host.startsWith("127.")));
}

function socketPath(path: string): string {
  const quoted = JSON.stringify(path);
  if (!path.startsWith("/")) {
    throw wrong(`the socket path ${quoted} is not absolute; use unix:///PATH with three slashes`);
  }
  if (path.includes("\0")) {
    throw wrong(`the socket path ${quoted} holds a zero byte`);
  }
  if (path.endsWith("/")) {
    throw wrong(`the socket path ${quoted} names a folder; add a file name`);
  }
  const clean = normalize(path);
  const length = Buffer.byteLength(clean);
  if (length > maxSocketPath) {
    throw wrong(`the socket path ${quoted} has ${length} bytes and the kernel takes ${maxSocketPath}; use a shorter one`);
  }
  return clean;
}

function wrong(message: string): ToolhostError {
  return new ToolhostError("invalid_argument", message);
}

/** Returns an address in the form that parseAddress accepts. */
export function formatAddress({ path, tcp }: Address): string {
  if (path !== undefined) {
    return unixScheme + path;
  }
  return tcp ? `${tcp.host.includes(":") ? `[${tcp.host}]` : tcp.host}:${tcp.port}` : "";
}

/**
 * Returns the address at which a client finds a program: the given address, else the environment
 * variable PROGRAM_ADDR, else the default socket of this user.
 */
export function findAddress(given: string | undefined, program: string, env: NodeJS.ProcessEnv = process.env): Address {
  if (given) {
    return parseAddress(given);
  }
  const variable = `${program.toUpperCase()}_ADDR`;
  const value = env[variable];
  if (!value) {
    return defaultAddress(program, env);
  }
  try {
    return parseAddress(value);
  } catch (error) {
    throw wrong(`the environment's ${variable}: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * Returns the addresses of servers of which any will do: those of a text with commas, or the one that
 * findAddress returns.
 */
export function findAddresses(given: string | undefined, program: string, env: NodeJS.ProcessEnv = process.env): Address[] {
  const text = given || env[`${program.toUpperCase()}_ADDR`];
  if (!text?.includes(",")) {
    return [findAddress(given, program, env)];
  }
  const addresses = text.split(",").map(parseAddress);
  const forms = addresses.map(formatAddress);
  const twice = forms.find((form, i) => forms.indexOf(form) < i);
  if (twice !== undefined) {
    throw wrong(`the list of addresses has ${twice} twice`);
  }
  return addresses;
}

/** The folder of the runtime folders of users, which systemd makes for them alone. */
export const runtimes = { path: "/run/user" };

function defaultAddress(program: string, env: NodeJS.ProcessEnv): Address {
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime) {
    try {
      return { path: socketPath(join(runtime, program, `${program}.sock`)), own: true };
    } catch {
      // A relative or too long XDG_RUNTIME_DIR is ignored.
    }
  }
  const path = join("/tmp", `${program}-${process.getuid?.() ?? 0}`, `${program}.sock`);
  // A program that was started with the variable listens there.
  const there = join(runtimes.path, `${process.getuid?.() ?? 0}`, program, `${program}.sock`);
  return { path: !runtime && !isSocket(path) && isSocket(there) ? there : path, own: true };
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}

/**
 * Throws if another user may have created a socket. A socket of this user or of root is trusted.
 * Root may connect to any socket that is configured explicitly. For a default socket the check is
 * stricter: it applies to root as well, and no other user may have write permission on the folder.
 * Otherwise another user could create a socket at the predictable path.
 */
export async function checkOwner(address: Address): Promise<void> {
  const me = process.getuid?.();
  if (address.path === undefined || me === undefined || (me === 0 && !address.own)) {
    return;
  }
  const advice = address.own ? "; if you trust that user, name the address" : "";
  const folder = dirname(address.path);
  for (const look of address.own ? [lstat, stat] : []) {
    const { uid, mode } = await look(folder);
    if (uid !== me && uid !== 0) {
      throw new Error(`the socket's folder ${folder} belongs to another user (uid ${uid})${advice}`);
    }
    if ((mode & constants.S_IFMT) === constants.S_IFDIR && (mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
      throw new Error(`the socket's folder ${folder} can be written by others; run: chmod go-w ${folder}`);
    }
  }
  const { uid } = await stat(address.path);
  if (uid !== me && uid !== 0) {
    throw new Error(`the server at ${formatAddress(address)} belongs to another user (uid ${uid})${advice}`);
  }
}
