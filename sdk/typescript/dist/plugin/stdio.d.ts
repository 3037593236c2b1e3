/** Standard output and standard error of a plugin: the line of the handshake, and the log. */
import type { LogLevel } from "../status.js";
/** Reports whether toolhost started this process. */
export declare function startedByToolhost(env: NodeJS.ProcessEnv): boolean;
/**
 * Redirects standard output to standard error until the handshake is printed. A second call does
 * nothing.
 */
export declare function redirectStdout(): void;
/** Prints the line of the handshake. From then on toolhost stores standard output as log. */
export declare function printHandshake(line: string): void;
/** Writes a log record to standard error, for events outside of calls. */
export declare function logToStderr(level: LogLevel, message: string, attributes?: Readonly<Record<string, unknown>>): void;
