/**
 * Import this module first in a plugin whose other modules print while they are loaded:
 *
 *     import "@toolhost/sdk/redirect-stdout";
 *
 * toolhost requires the handshake of `serve` as the first line on standard output. In a process
 * that toolhost started, this module redirects standard output to standard error until `serve` has
 * printed the handshake. It has no other effect.
 */
import { redirectStdout, startedByToolhost } from "./plugin/stdio.js";
if (startedByToolhost(process.env)) {
    redirectStdout();
}
