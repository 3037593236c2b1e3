// A client of MCP with the official TypeScript SDK. It does the steps that clients_test.go describes, and prints what
// it sees as one JSON object: client.mjs VERSION http URL, or client.mjs VERSION stdio COMMAND ARGUMENTS….
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [version, transport, target, ...args] = process.argv.slice(2);
const mode = version === "2026-07-28" ? { pin: version } : "legacy";
const seen = { progress: [] };
let approve = true;

const client = new Client(
  { name: "typescript-client", version: "1" },
  { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
);
client.setRequestHandler("elicitation/create", async (request) => {
  seen.question = request.params.message;
  return approve ? { action: "accept", content: { approve: true } } : { action: "decline" };
});
await client.connect(
  transport === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env, stderr: "inherit" }),
);

const call = (name, params = {}, options = {}) => client.callTool({ name, arguments: {}, ...params }, options);
const text = (result) => result.content.map((c) => c.text ?? "").join("");

seen.tools = (await client.listTools()).tools.map((t) => t.name);
const sum = await call("sum", { arguments: { a: 40, b: 2 } });
seen.sum = sum.structuredContent.sum;
await call("steps", {}, { onprogress: (p) => seen.progress.push(p.progress) });

const canceled = async () => (await call("canceled")).structuredContent.count;
const before = await canceled();
const abort = new AbortController();
const waiting = call("wait", {}, { signal: abort.signal, onprogress: () => abort.abort("enough") });
seen.canceledCallFails = await waiting.then(
  () => false,
  () => true,
);
while ((await canceled()) === before);
seen.canceled = true;

const large = await call("large");
const link = large.content.find((c) => c.type === "resource_link");
seen.pages = 0;
seen.bytes = 0;
for (let uri = link.uri; uri; seen.pages++) {
  const [page] = (await client.readResource({ uri })).contents;
  seen.bytes += page.text.length;
  uri = page._meta["toolhost/next"];
}

seen.approved = text(await call("guarded", { arguments: { what: "yes" } }));
approve = false;
const declined = await call("guarded", { arguments: { what: "no" } });
seen.declined = declined.isError === true;

const _meta = { "toolhost/callId": `order-${version}-${transport}-typescript` };
const first = await call("counted", { _meta });
const again = await call("counted", { _meta });
seen.replayed = again._meta["toolhost/replayed"] === true && first.structuredContent.count === again.structuredContent.count;

await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
