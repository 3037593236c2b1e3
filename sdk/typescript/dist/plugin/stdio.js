/**
 * The environment variable that toolhost sets for its plugins, and its value. It is not a secret.
 */
const cookie = { key: "TOOLHOST_PLUGIN", value: "f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11" };
/** Reports whether toolhost started this process. */
export function startedByToolhost(env) {
    return env[cookie.key] === cookie.value;
}
/** The original `process.stdout.write` while standard output is redirected. */
let original;
/**
 * Redirects standard output to standard error until the handshake is printed. A second call does
 * nothing.
 */
export function redirectStdout() {
    if (original) {
        return;
    }
    original = process.stdout.write;
    process.stdout.write = process.stderr.write.bind(process.stderr);
}
/** Prints the line of the handshake. From then on toolhost stores standard output as log. */
export function printHandshake(line) {
    // toolhost may be gone at any time, and then no process reads what is printed.
    process.stdout.on("error", () => { });
    process.stderr.on("error", () => { });
    if (original) {
        process.stdout.write = original;
        original = undefined;
    }
    process.stdout.write(line);
}
/** Writes a log record to standard error, for events outside of calls. */
export function logToStderr(level, message, attributes = {}) {
    const pairs = Object.entries(attributes).map(([key, value]) => {
        const text = value instanceof Error ? (value.stack ?? String(value)) : typeof value === "string" ? value : inspect(value);
        return ` ${key}=${/^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)}`;
    });
    process.stderr.write(`level=${level.toUpperCase()} msg=${JSON.stringify(message)}${pairs.join("")}\n`);
}
function inspect(value) {
    try {
        return JSON.stringify(value) ?? String(value);
    }
    catch {
        return String(value);
    }
}
