/** What a client presents to a server, and how it verifies the server. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import * as tls from "node:tls";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import { type Address, formatAddress, isLoopback } from "./address.js";
import { fromCommand, fromFile, fromFunction, readBounded, type Token, TokenCache, type TokenSource } from "./tokens.js";

/**
 * How a client verifies a server, and the certificate that it presents. All versions of TLS before
 * 1.3 are refused. The client reads the files when it is created and again for each connection.
 * While a file is incomplete because it is being replaced, the client uses the previous content.
 */
export interface TLSOptions {
  /** The file with the CAs of the server, in PEM. Default: the CAs of the system. */
  readonly ca?: string | undefined;
  /** The file with the certificate of the client and its intermediates, in PEM. Default: none. */
  readonly certificate?: string | undefined;
  /** The file with the private key of the certificate, in PEM. */
  readonly key?: string | undefined;
  /** The name that the certificate of the server must have. Default: the host of the address. */
  readonly serverName?: string | undefined;
}

/**
 * The credentials of a client. Options of one sort, TLS or tokens, replace the environment variables
 * of that sort: TOOLHOST_TLS_CA, TOOLHOST_TLS_CERT, TOOLHOST_TLS_KEY and TOOLHOST_TLS_SERVER_NAME, and
 * TOOLHOST_TOKEN, TOOLHOST_TOKEN_FILE and TOOLHOST_TOKEN_COMMAND. Those of a client of agentd begin
 * with AGENTD_.
 *
 * A client uses TLS for every address except unix sockets and IP addresses of loopback, and for the
 * latter as well if there are settings for TLS. It does not send a token without TLS, unless that is
 * allowed.
 */
export interface CredentialOptions {
  /** How to verify the server. Error kinds: invalid_argument for a unix socket or an unusable file. */
  readonly tls?: TLSOptions;
  /**
   * A bearer token, or a function that returns one. The client calls the function when it needs a
   * token, again before the token expires, and once after the server has refused it. Its errors must
   * not contain a token.
   */
  readonly token?: string | (() => string | Token | Promise<string | Token>);
  /**
   * A file with a bearer token, which the client reads again when it has changed. It contains the
   * token alone, or a JSON object with `token` and `expires`, an RFC 3339 time.
   */
  readonly tokenFile?: string;
  /**
   * A line of shell that prints a token, in the form of a token file. The client runs it when it
   * needs a token, like a function. A command that takes more than a minute fails.
   */
  readonly tokenCommand?: string;
  /**
   * Permits sending the token over a unix socket, and over loopback without TLS. Default: the
   * environment variable TOOLHOST_ALLOW_PLAIN_TOKEN, else false.
   */
  readonly allowPlainToken?: boolean;
  /** Takes no credentials from the environment: the variables are meant for another server. */
  readonly ignoreEnvironment?: boolean;
}

/** The credentials of a client at an address. */
export interface Credentials {
  readonly tls: TLSFiles | undefined;
  readonly tokens: TokenCache | undefined;
}

/** Completes the credentials of a client of a program from the environment, and checks them. */
export function resolveCredentials(
  program: string,
  address: Address,
  options: CredentialOptions,
  env: NodeJS.ProcessEnv = process.env,
): Credentials {
  const prefix = `${program.toUpperCase()}_`;
  const get = (name: string) => (options.ignoreEnvironment ? undefined : env[prefix + name]) || undefined;
  const where = formatAddress(address);
  const unix = address.path !== undefined;
  if (options.tls && unix) {
    throw wrong(`TLS is configured, but ${where} is a unix socket; use HOST:PORT`);
  }
  const settings = options.tls ?? (unix ? undefined : environmentTLS(get));
  const files = settings ?? (unix || isLoopback(address) ? undefined : {});
  let found = sourceOf(
    { token: options.token, tokenFile: options.tokenFile, tokenCommand: options.tokenCommand },
    (name) => name,
    "there is",
  );
  let origin = "a token";
  if (!found) {
    const given = { token: get("TOKEN"), tokenFile: get("TOKEN_FILE"), tokenCommand: get("TOKEN_COMMAND") };
    const variables = { token: "TOKEN", tokenFile: "TOKEN_FILE", tokenCommand: "TOKEN_COMMAND" };
    found = sourceOf(given, (name) => prefix + variables[name], "the environment has");
    origin = `a token in ${found?.name}`;
  }
  const allow = options.allowPlainToken ?? flag(prefix, get);
  if (found && !files && !allow) {
    throw wrong(
      `there is ${origin}, but the connection to ${where} has no TLS, and a token is not sent without TLS unless you ` +
        `allow it: use TLS, no token, or ${prefix}ALLOW_PLAIN_TOKEN=1`,
    );
  }
  return { tls: files && new TLSFiles(files), tokens: found && new TokenCache(found.source) };
}

function wrong(message: string): ToolhostError {
  return new ToolhostError("invalid_argument", message);
}

function environmentTLS(get: (name: string) => string | undefined): TLSOptions | undefined {
  const found = { ca: get("TLS_CA"), certificate: get("TLS_CERT"), key: get("TLS_KEY"), serverName: get("TLS_SERVER_NAME") };
  return Object.values(found).some((value) => value !== undefined) ? found : undefined;
}

function flag(prefix: string, get: (name: string) => string | undefined): boolean {
  const text = get("ALLOW_PLAIN_TOKEN");
  if (text === undefined || /^(0|f|false)$/i.test(text)) {
    return false;
  }
  if (!/^(1|t|true)$/i.test(text)) {
    throw wrong(`the environment's ${prefix}ALLOW_PLAIN_TOKEN is ${JSON.stringify(text)}; use 1 or 0`);
  }
  return true;
}

type SourceName = "token" | "tokenFile" | "tokenCommand";

/** Returns the only source of tokens. Undefined if there is none. */
function sourceOf(
  given: { [name in SourceName]: CredentialOptions[name] | undefined },
  shown: (name: SourceName) => string,
  where: string,
): { source: TokenSource; name: string } | undefined {
  const { token, tokenFile, tokenCommand } = given;
  const sources: [SourceName, TokenSource][] = [];
  if (token !== undefined) {
    sources.push(["token", fromFunction(typeof token === "function" ? token : () => token)]);
  }
  if (tokenFile !== undefined) {
    sources.push(["tokenFile", fromFile(tokenFile)]);
  }
  if (tokenCommand !== undefined) {
    sources.push(["tokenCommand", fromCommand(tokenCommand)]);
  }
  if (sources.length > 1) {
    const names = sources.map(([name]) => shown(name)).sort();
    throw wrong(`${where} more than one source of tokens; use one of ${names.join(", ")}`);
  }
  const [only] = sources;
  return only && { source: only[1], name: shown(only[0]) };
}

/** The files of TLS, which are read for each connection. */
export class TLSFiles {
  /** The name that the certificate of the server must have, if it is not the host. */
  readonly serverName: string | undefined;
  readonly #options: TLSOptions;
  #last: tls.SecureContext;

  constructor(options: TLSOptions) {
    if ((options.certificate === undefined) !== (options.key === undefined)) {
      throw wrong("a client certificate needs its key, and a key needs the certificate");
    }
    this.serverName = options.serverName;
    this.#options = options;
    try {
      this.#last = this.#read();
    } catch (error) {
      throw wrong(`the files of TLS cannot be used: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Returns the context of the next connection. */
  context(): tls.SecureContext {
    try {
      this.#last = this.#read();
    } catch {
      // A file is being replaced. The next connection reads it again.
    }
    return this.#last;
  }

  #read(): tls.SecureContext {
    const { ca, certificate, key } = this.#options;
    const roots = ca === undefined ? systemCAs() : readBounded(ca);
    if (roots instanceof Buffer) {
      new X509Certificate(roots); // throws if there is no certificate, which tls would ignore
    }
    return tls.createSecureContext({
      minVersion: "TLSv1.3",
      ...(roots && { ca: roots }),
      ...(certificate !== undefined && { cert: readBounded(certificate) }),
      ...(key !== undefined && { key: readBounded(key) }),
    });
  }
}

/** Returns the CAs of the system. Undefined means those that Node ships, before Node 22.15. */
function systemCAs(): string[] | undefined {
  const { getCACertificates } = tls as { getCACertificates?: (type: string) => string[] };
  const found = getCACertificates?.("system") ?? [];
  return found.length > 0 ? found : undefined;
}

/**
 * Returns the gRPC credentials of a connection. TLS has no server name for an IP address, and Node
 * warns about one with DEP0123, but gRPC sets it. Without a name, Node checks the certificate
 * against the host.
 */
export function channelCredentials(context: tls.SecureContext | undefined): ChannelCredentials {
  if (!context) {
    return credentials.createInsecure();
  }
  const made = credentials.createFromSecureContext(context);
  const create = made._createSecureConnector.bind(made);
  made._createSecureConnector = (...given) => {
    const connector = create(...given);
    // No part of the API of gRPC. If another version has no such field, Node warns.
    const { connectionOptions: to } = connector as { connectionOptions?: tls.ConnectionOptions };
    if (to?.host !== undefined && isIP(to.servername ?? "")) {
      to.servername = "";
    }
    return connector;
  };
  return made;
}
