// The caller of server/internal/e2e/languages in TypeScript: makes the calls of a table and prints what comes of each.
import { createHash } from "node:crypto";
import { readFileSync, writeSync } from "node:fs";
import {
  type ArtifactContent,
  type CallEvent,
  type Content,
  type EndedEvent,
  encodeJSON,
  type Status,
  Toolhost,
} from "@toolhost/sdk/client";

interface Case {
  readonly name: string;
  readonly tool: string;
  readonly arguments?: string;
  readonly pieces?: readonly { readonly bytes: string; readonly await?: string }[];
  readonly call_id?: string;
  readonly timeout_ms?: number;
  readonly context?: Record<string, unknown>;
  readonly max_shown_bytes: number;
  readonly cancel?: string;
}

const [address = "", file = "", session = ""] = process.argv.slice(2);
const toolhost = new Toolhost({ address });

const line = (text: string): void => {
  const bytes = Buffer.from(`${text}\n`);
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(1, bytes, at);
  }
};

const digest = (data: Uint8Array): string =>
  `${data.length} bytes of sha256 ${createHash("sha256").update(data).digest("hex")}`;

/** Returns a text on one line, or only its digest if it is long. */
const shown = (text: string): string =>
  Buffer.byteLength(text) > 500 ? digest(Buffer.from(text)) : `[${text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}]`;

/** Returns JSON without spaces and with sorted keys. */
const canonical = (value: unknown): string => (value === undefined ? "-" : encodeJSON(sorted(value)));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]));
}

async function whole({ handle }: ArtifactContent): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of toolhost.artifact(handle, { session })) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function contentLine(block: Content): Promise<string> {
  switch (block.kind) {
    case "text":
      return `text ${shown(block.text)}`;
    case "json":
      return `json ${shown(block.json)}`;
    case "artifact": {
      const { mediaType, name, size, head, tail } = block;
      const data = digest(await whole(block));
      return `artifact ${mediaType} ${name || "-"}, ${size} bytes, head ${shown(head)}, tail ${shown(tail)}, ${data}`;
    }
    default:
      return `${block.kind} ${block.mediaType} ${block.name || "-"} ${digest(block.data)}`;
  }
}

async function endedLines({ plugin, replayed, error, result }: EndedEvent): Promise<string[]> {
  const lines = [`ended at ${plugin || "-"}, replayed ${replayed}`];
  if (error) {
    const after = error.retryAfterMs ?? 0;
    lines.push(`error ${error.kind}: ${shown(error.message)}, retry after ${after} ms, rule ${error.rule || "-"}`);
  }
  if (!result) {
    return lines;
  }
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = result.usage ?? {};
  const tokens = `${inputTokens} ${outputTokens} ${cacheReadTokens} ${cacheWriteTokens}`;
  lines.push(`result, is_error ${result.isError}, cost ${result.cost}, tokens ${tokens}`);
  for (const block of result.content) {
    lines.push(await contentLine(block));
  }
  for (const { key, operation = "replace", value } of result.effects) {
    lines.push(`effect ${key} ${operation} ${canonical(value)}`);
  }
  if (Object.keys(result.metadata).length > 0) {
    lines.push(`metadata ${canonical(result.metadata)}`);
  }
  return lines;
}

function statusLine({ state = "-" as never, message = "", parameters, progress: p, result }: Status): string {
  const progress = p ? `${p.done}/${p.total ?? 0} ${shown(p.message ?? "")}` : "-";
  return `status ${state}: message ${shown(message)}, parameters ${canonical(parameters)}, progress ${progress}, result ${canonical(result)}`;
}

async function tell(event: CallEvent): Promise<void> {
  switch (event.type) {
    case "started":
      return line(`  started, attempt ${event.attempt}, at ${event.plugin}`);
    case "status":
      return line(`  ${statusLine(event.status)}`);
    case "log":
      return line(`  log ${event.record.level}: ${shown(event.record.message)} ${canonical(event.record.attributes)}`);
    case "ended":
      for (const text of await endedLines(event)) {
        line(`  ${text}`);
      }
  }
}

async function perform(c: Case): Promise<void> {
  const execution = toolhost.execute(c.tool, c.pieces ? undefined : (c.arguments ?? ""), {
    session,
    maxShownBytes: c.max_shown_bytes,
    ...(c.call_id && { callId: c.call_id }),
    ...(c.timeout_ms && { timeoutMs: c.timeout_ms }),
    ...(c.context && { context: c.context }),
  });
  const events = execution[Symbol.asyncIterator]();
  for (const piece of c.pieces ?? []) {
    await execution.send(Buffer.from(piece.bytes, "base64"));
    for (let seen = !piece.await; !seen; ) {
      const { value, done } = await events.next();
      if (done) {
        break;
      }
      await tell(value);
      seen = value.type === "status" && value.status.parameters?.text === piece.await;
    }
  }
  if (c.pieces) {
    await execution.complete();
  }
  for (;;) {
    const { value, done } = await events.next();
    if (done) {
      return;
    }
    await tell(value);
    if (value.type === "status" && c.cancel) {
      await execution.cancel(c.cancel);
    }
  }
}

for (const c of JSON.parse(readFileSync(file, "utf8")) as Case[]) {
  line(c.name);
  await perform(c);
}
toolhost.close();
