/** The life of a plugin's process. */
import { ToolhostError } from "../error.js";
import { currentCall } from "./execute.js";
import { complaint, descriptionJSON, introduction } from "./introduction.js";
import { Lifeline } from "./lifeline.js";
import { descriptionOf, type Plugin, problemsOf } from "./plugin.js";
import { PluginServer } from "./server.js";
import { logToStderr, printHandshake, startedByToolhost } from "./stdio.js";

/** The version of the contract that this package speaks. */
const contractVersion = "1";
/** How long calls may take to end at the plugin's end: a little less than the five seconds after which toolhost sends a signal. */
const graceMs = 4_000;

/**
 * Runs the plugin: it is the last line of a plugin's main module. The process exits, with code 0, when toolhost has told
 * the plugin to end, or is gone, and the calls at work have ended or had four seconds to. While it serves, standard output
 * and standard error belong to toolhost, which keeps what is written there as the plugin's log.
 *
 * A plugin whose declaration is wrong, or that a person has started, says so on standard error and exits with code 1. With
 * the argument --describe it prints, as JSON, what toolhost sees of it, and serves nothing.
 */
export async function serve(plugin: Plugin): Promise<void> {
  const problems = problemsOf(plugin);
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

function checkVersion(name: string): void {
  const known = process.env.PLUGIN_PROTOCOL_VERSIONS;
  if (known && !known.split(",").some((version) => version.trim() === contractVersion)) {
    process.stderr.write(`${name} speaks version ${contractVersion} of toolhost's contract, and toolhost speaks ${known}\n`);
    process.exit(1);
  }
}

async function serveHost(plugin: Plugin): Promise<void> {
  outliveErrors();
  let over = () => {};
  const ended = new Promise<void>((resolve) => {
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
    process.stderr.write("toolhost has not said where the socket is to be: PLUGIN_UNIX_SOCKET_DIR is not set\n");
    process.exit(1);
  }
  const socket = await server.listen(folder).catch((error: unknown): never => {
    process.stderr.write(`the plugin cannot listen in ${folder}: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  });
  printHandshake(`1|${contractVersion}|unix|${socket}|grpc\n`);
  await ended;
  lifeline.stop();
  setTimeout(() => {
    logToStderr("warn", "the plugin ends although calls have not");
    process.exit(0);
  }, graceMs);
  await server.close();
  try {
    await plugin.close?.();
  } catch (error) {
    logToStderr("warn", "closing the plugin failed", { error });
  }
  // What the calls said last is written when this turn of the event loop is over.
  setImmediate(() => process.exit(0));
}

/** What nobody caught, or would end the process, ends the call in whose work it was, and no other; else errors are logged. */
function outliveErrors(): void {
  const heard = (error: unknown) => {
    const fail = currentCall.getStore();
    if (fail) {
      fail(error);
    } else {
      logToStderr("error", "nobody caught an error", { error });
    }
  };
  process.on("uncaughtException", heard);
  process.on("unhandledRejection", heard);
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    if (currentCall.getStore()) {
      const words = `the tool called process.exit(${code ?? ""}), which would end the plugin's other calls; throw an error instead`;
      throw new ToolhostError("internal", words); // as a panic is in Go, and SystemExit in Python
    }
    return exit(code);
  };
  // As go-plugin has it: whoever presses ^C speaks to toolhost, which ends its plugins itself.
  process.on("SIGINT", () => {});
}
