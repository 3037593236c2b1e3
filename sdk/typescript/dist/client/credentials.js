/** What a client presents to a server, and how it verifies the server. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import * as tls from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import { formatAddress, isLoopback } from "./address.js";
import { fromCommand, fromFile, fromFunction, readBounded, TokenCache } from "./tokens.js";
/** Completes the credentials of a client of a program from the environment, and checks them. */
export function resolveCredentials(program, address, options, env = process.env) {
    const prefix = `${program.toUpperCase()}_`;
    const get = (name) => (options.ignoreEnvironment ? undefined : env[prefix + name]) || undefined;
    const where = formatAddress(address);
    const unix = address.path !== undefined;
    if (options.tls && unix) {
        throw wrong(`TLS is configured, but ${where} is a unix socket; use HOST:PORT`);
    }
    const settings = options.tls ?? (unix ? undefined : environmentTLS(get));
    const files = settings ?? (unix || isLoopback(address) ? undefined : {});
    let found = sourceOf({ token: options.token, tokenFile: options.tokenFile, tokenCommand: options.tokenCommand }, (name) => name, "there is");
    let origin = "a token";
    if (!found) {
        const given = { token: get("TOKEN"), tokenFile: get("TOKEN_FILE"), tokenCommand: get("TOKEN_COMMAND") };
        const variables = { token: "TOKEN", tokenFile: "TOKEN_FILE", tokenCommand: "TOKEN_COMMAND" };
        found = sourceOf(given, (name) => prefix + variables[name], "the environment has");
        origin = `a token in ${found?.name}`;
    }
    const allow = options.allowPlainToken ?? flag(prefix, get);
    if (found && !files && !allow) {
        throw wrong(`there is ${origin}, but the connection to ${where} has no TLS, and a token is not sent without TLS unless you ` +
            `allow it: use TLS, no token, or ${prefix}ALLOW_PLAIN_TOKEN=1`);
    }
    return { tls: files && new TLSFiles(files), tokens: found && new TokenCache(found.source) };
}
function wrong(message) {
    return new ToolhostError("invalid_argument", message);
}
function environmentTLS(get) {
    const found = { ca: get("TLS_CA"), certificate: get("TLS_CERT"), key: get("TLS_KEY"), serverName: get("TLS_SERVER_NAME") };
    return Object.values(found).some((value) => value !== undefined) ? found : undefined;
}
function flag(prefix, get) {
    const text = get("ALLOW_PLAIN_TOKEN");
    if (text === undefined || /^(0|f|false)$/i.test(text)) {
        return false;
    }
    if (!/^(1|t|true)$/i.test(text)) {
        throw wrong(`the environment's ${prefix}ALLOW_PLAIN_TOKEN is ${JSON.stringify(text)}; use 1 or 0`);
    }
    return true;
}
/** Returns the only source of tokens. Undefined if there is none. */
function sourceOf(given, shown, where) {
    const { token, tokenFile, tokenCommand } = given;
    const sources = [];
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
    serverName;
    #options;
    #last;
    constructor(options) {
        if ((options.certificate === undefined) !== (options.key === undefined)) {
            throw wrong("a client certificate needs its key, and a key needs the certificate");
        }
        this.serverName = options.serverName;
        this.#options = options;
        try {
            this.#last = this.#read();
        }
        catch (error) {
            throw wrong(`the files of TLS cannot be used: ${error instanceof Error ? error.message : error}`);
        }
    }
    /** Returns the context of the next connection. */
    context() {
        try {
            this.#last = this.#read();
        }
        catch {
            // A file is being replaced. The next connection reads it again.
        }
        return this.#last;
    }
    #read() {
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
function systemCAs() {
    const { getCACertificates } = tls;
    const found = getCACertificates?.("system") ?? [];
    return found.length > 0 ? found : undefined;
}
/**
 * Returns the gRPC credentials of a connection. TLS has no server name for an IP address, and Node
 * warns about one with DEP0123, but gRPC sets it. Without a name, Node checks the certificate
 * against the host.
 */
export function channelCredentials(context) {
    if (!context) {
        return credentials.createInsecure();
    }
    const made = credentials.createFromSecureContext(context);
    const create = made._createSecureConnector.bind(made);
    made._createSecureConnector = (...given) => {
        const connector = create(...given);
        // No part of the API of gRPC. If another version has no such field, Node warns.
        const { connectionOptions: to } = connector;
        if (to?.host !== undefined && isIP(to.servername ?? "")) {
            to.servername = "";
        }
        return connector;
    };
    return made;
}
