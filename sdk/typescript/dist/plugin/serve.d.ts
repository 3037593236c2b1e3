import { type Plugin } from "./plugin.js";
/**
 * Serves a plugin. It is the last statement of the main module. The process exits with code 0 when
 * toolhost requests it or is gone, after the running calls have ended, or after four seconds. Until
 * then toolhost stores what the process prints as the log of the plugin.
 *
 * If the declaration is invalid, or if a person starts the plugin by hand, the process prints an
 * explanation to standard error and exits with code 1. With the argument --describe it prints the
 * declaration as JSON.
 *
 * An exception that no code catches, such as one in a timer, ends the call that started the timer
 * as `internal`, and no other call. `process.exit` ends the process and with it all calls.
 */
export declare function serve(plugin: Plugin): Promise<void>;
