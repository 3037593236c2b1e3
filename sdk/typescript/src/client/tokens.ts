/** Bearer tokens: their sources, and when a client fetches another one. */
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";

/** A bearer token. */
export interface Token {
  readonly value: string;
  /** The client renews the token before. Default: unknown, or the `exp` of a JWT. */
  readonly expires?: Date | undefined;
}

/** The longest token in bytes. Servers bound the headers of an RPC. */
const maxTokenBytes = 16 << 10;
/** The largest file, and the largest output of a command. */
const maxFileBytes = 4 << 20;
const commandLimitMs = 60_000;
/**
 * The shortest time between two looks at the source, so that a token that is always about to expire
 * does not start a command for each RPC.
 */
const earliestMs = 1_000;
/** How long before its expiry a token is renewed at the latest. */
const maxMarginMs = 60_000;
/** A token is renewed in the last fifth of its life. */
const marginShare = 5;

/** Produces tokens. The errors contain no token. */
export interface TokenSource {
  fetch(): Promise<Token>;
  /** Whether `fetch` would return another token, if that is known without fetching. */
  changed(): boolean;
}

/** A source that calls a function. */
export function fromFunction(produce: () => string | Token | Promise<string | Token>): TokenSource {
  return {
    fetch: async () => {
      const token = await produce();
      return usable(typeof token === "string" ? { value: token } : token);
    },
    changed: () => false,
  };
}

/** A source that reads a file again when the file has changed. */
export function fromFile(path: string): TokenSource {
  let read: string | undefined;
  return {
    fetch: async () => {
      const version = versionOf(path);
      const token = parse(readBounded(path).toString("utf8"));
      read = version;
      return token;
    },
    changed: () => {
      const version = versionOf(path);
      return version !== undefined && version !== read;
    },
  };
}

/**
 * A source that runs a line of shell. Standard error of the command is that of the program, because
 * an error must not contain what a command prints.
 */
export function fromCommand(line: string): TokenSource {
  return fromFunction(async () => parse(await run(line)));
}

function run(line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: commandLimitMs, killSignal: "SIGKILL", maxBuffer: maxFileBytes } as const;
    const child = execFile("/bin/sh", ["-c", line], options, (error, stdout) => {
      if (!error) {
        resolve(stdout);
        return;
      }
      // The message of the error has the command, and standard error.
      const how = error.killed ? `was ended after ${commandLimitMs / 1000} s` : `failed with exit status ${error.code}`;
      reject(new Error(`the token command ${how}`));
    });
    child.stdin?.end();
    child.stderr?.pipe(process.stderr, { end: false });
  });
}

/** Reads a small file. */
export function readBounded(path: string): Buffer {
  const { size } = statSync(path);
  if (size > maxFileBytes) {
    throw new Error(`${path} has more than ${maxFileBytes} bytes`);
  }
  return readFileSync(path);
}

/** Returns what tells two contents of a file apart without reading them. */
function versionOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`;
}

/** Returns the token in a file or in the output of a command. */
function parse(text: string): Token {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) {
    return usable({ value: trimmed });
  }
  try {
    const { token, expires } = JSON.parse(trimmed) as { token: string; expires?: string };
    const time = expires === undefined ? undefined : new Date(expires);
    if (typeof token === "string" && !Number.isNaN(time?.getTime())) {
      return usable({ value: token, expires: time });
    }
  } catch {
    // The error of the parser may quote the token.
  }
  throw new Error(
    'the text is neither a usable token nor a JSON object such as {"token": "…", "expires": "2027-01-31T12:00:00Z"}',
  );
}

/** Returns a token without white space around its value. The errors do not contain the token. */
function usable(token: Token): Token {
  if (typeof token?.value !== "string") {
    throw new Error("the source returned no token: a text, or an object with the text `value`");
  }
  const value = token.value.trim();
  if (value === "") {
    throw new Error("the token is empty");
  }
  if (value.length > maxTokenBytes) {
    throw new Error(`the token has ${value.length} bytes, and the limit is ${maxTokenBytes}`);
  }
  if (!/^[!-~]+$/.test(value)) {
    throw new Error("the token has a character that a header cannot carry: a space, a line break, or one outside ASCII");
  }
  return { value, expires: token.expires ?? expiryOf(value) };
}

/** Returns the expiry of a JWT, which the server verifies. Undefined for another token. */
function expiryOf(token: string): Date | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) {
    return undefined;
  }
  try {
    const { exp } = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString("utf8")) as { exp?: unknown };
    const expires = typeof exp === "number" ? new Date(exp * 1000) : undefined;
    return expires && !Number.isNaN(expires.getTime()) ? expires : undefined;
  } catch {
    return undefined;
  }
}

/** The current token of a source. One fetch serves all RPCs that need a token. */
export class TokenCache {
  readonly #source: TokenSource;
  #token: Token | undefined;
  #fetchedMs = 0; // when the last fetch ended
  #lookedMs = 0; // when `changed` was called, or a fetch ended
  #fetching: Promise<Token> | undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /**
   * Returns the current token. It fetches one if there is none, if it expires soon, or if the source
   * has changed. If that fails, the old token is returned until it expires.
   */
  async get(): Promise<Token> {
    const old = this.#token;
    if (old && !this.#due(old)) {
      return old;
    }
    try {
      return await this.#fetch();
    } catch (error) {
      if (old && (!old.expires || Date.now() < old.expires.getTime())) {
        return old;
      }
      throw error;
    }
  }

  /** Whether `get` would return this token at once. */
  has(token: Token): boolean {
    return this.#token === token && !this.#due(token);
  }

  /** Reports whether there is another token than a refused one, after fetching one. */
  async renew(refused: Token): Promise<boolean> {
    if (this.#token && this.#token !== refused) {
      return true; // another RPC has renewed it
    }
    try {
      return (await this.#fetch()).value !== refused.value;
    } catch {
      return false; // the refusal is the error that the caller gets
    }
  }

  #due({ expires }: Token): boolean {
    const now = Date.now();
    if (now >= this.#lookedMs && now - this.#lookedMs < earliestMs) {
      return false;
    }
    if (expires) {
      const end = expires.getTime();
      if (now >= end - Math.min(maxMarginMs, Math.max(0, (end - this.#fetchedMs) / marginShare))) {
        return true;
      }
    }
    this.#lookedMs = now;
    return this.#source.changed();
  }

  #fetch(): Promise<Token> {
    this.#fetching ??= this.#source
      .fetch()
      .then((token) => {
        // The same token stays the same object, by which streams compare it.
        this.#token = this.#token?.value === token.value ? Object.assign(this.#token, token) : token;
        return this.#token;
      })
      .finally(() => {
        this.#fetching = undefined;
        this.#lookedMs = this.#fetchedMs = Date.now();
      });
    return this.#fetching;
  }
}
