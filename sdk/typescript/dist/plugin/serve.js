/** The process of a plugin: its command line, the handshake and the shutdown. */
import { currentCall } from "./execute.js";
import { complaint, descriptionJSON, introduction } from "./introduction.js";
import { Lifeline } from "./lifeline.js";
import { descriptionOf, validatePlugin } from "./plugin.js";
import { PluginServer } from "./server.js";
import { logToStderr, printHandshake, redirectStdout, startedByToolhost } from "./stdio.js";
/** The version of the plugin protocol that this package implements. */
const contractVersion = "1";
/** How long calls may take to end at the shutdown. toolhost sends a signal after five seconds. */
const graceMs = 4_000;
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
export async function serve(plugin) {
    const problems = validatePlugin(plugin);
    if (problems.length > 0) {
        process.stderr.write(complaint(plugin, problems));
        process.exit(1);
    }
    const [, module = plugin.name, ...args] = process.argv;
    const program = `node ${module}`;
    if (args.includes("--describe") || args.includes("-describe")) {
        process.stdout.write(descriptionJSON(descriptionOf(plugin)));
        return;
    }
    if (args.some((arg) => ["-h", "-help", "--help"].includes(arg))) {
        process.stdout.write(introduction(plugin, program));
        return;
    }
    if (!startedByToolhost(process.env)) {
        process.stderr.write(introduction(plugin, program));
        process.exit(1);
    }
    checkVersion(plugin.name);
    await serveHost(plugin);
}
function checkVersion(name) {
    const known = process.env.PLUGIN_PROTOCOL_VERSIONS;
    if (known && !known.split(",").some((version) => version.trim() === contractVersion)) {
        process.stderr.write(`${name} speaks version ${contractVersion} of toolhost's contract, and toolhost speaks ${known}\n`);
        process.exit(1);
    }
}
async function serveHost(plugin) {
    redirectStdout();
    handleProcessEvents();
    await openPlugin(plugin);
    let over = () => { };
    const ended = new Promise((resolve) => {
        over = resolve;
    });
    const lifeline = new Lifeline(over);
    const server = new PluginServer(plugin, {
        connected: () => lifeline.connected(),
        disconnected: () => lifeline.disconnected(),
        over,
    });
    const folder = process.env.PLUGIN_UNIX_SOCKET_DIR;
    if (!folder) {
        process.stderr.write("PLUGIN_UNIX_SOCKET_DIR is not set, so the plugin does not know where to listen\n");
        process.exit(1);
    }
    const socket = await server.listen(folder).catch((error) => {
        process.stderr.write(`the plugin cannot listen in ${folder}: ${error instanceof Error ? error.message : error}\n`);
        process.exit(1);
    });
    printHandshake(`1|${contractVersion}|unix|${socket}|grpc\n`);
    await ended;
    lifeline.stop();
    setTimeout(() => {
        logToStderr("warn", "the plugin ends while calls are running");
        process.exit(0);
    }, graceMs);
    await server.close();
    try {
        await plugin.close?.();
    }
    catch (error) {
        logToStderr("warn", "closing the plugin failed", { error });
    }
    // gRPC writes the last frames of the calls at the end of this turn of the event loop.
    setImmediate(() => process.exit(0));
}
async function openPlugin(plugin) {
    try {
        await plugin.open?.();
    }
    catch (error) {
        logToStderr("error", "opening the plugin failed, so it cannot be served", { error });
        process.exit(1);
    }
}
/** Assigns uncaught errors to the call that caused them, and ignores SIGINT. */
function handleProcessEvents() {
    const uncaught = (error) => {
        const fail = currentCall.getStore();
        if (fail) {
            fail(error);
        }
        else {
            logToStderr("error", "an error was not caught", { error });
        }
    };
    process.on("uncaughtException", uncaught);
    process.on("unhandledRejection", uncaught);
    // Ctrl-C reaches the whole process group. toolhost ends its plugins itself.
    process.on("SIGINT", () => { });
}
