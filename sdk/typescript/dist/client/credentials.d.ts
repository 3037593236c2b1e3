import * as tls from "node:tls";
import { type ChannelCredentials } from "@grpc/grpc-js";
import { type Address } from "./address.js";
import { type Token, TokenCache } from "./tokens.js";
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
export declare function resolveCredentials(program: string, address: Address, options: CredentialOptions, env?: NodeJS.ProcessEnv): Credentials;
/** The files of TLS, which are read for each connection. */
export declare class TLSFiles {
    #private;
    /** The name that the certificate of the server must have, if it is not the host. */
    readonly serverName: string | undefined;
    constructor(options: TLSOptions);
    /** Returns the context of the next connection. */
    context(): tls.SecureContext;
}
/**
 * Returns the gRPC credentials of a connection. TLS has no server name for an IP address, and Node
 * warns about one with DEP0123, but gRPC sets it. Without a name, Node checks the certificate
 * against the host.
 */
export declare function channelCredentials(context: tls.SecureContext | undefined): ChannelCredentials;
