/** What a call answers: blocks of content, effects, and what it used. */
import { encodeJSON, parseJSON } from "./json.js";

/** Plain text or Markdown. */
export interface TextContent {
  readonly kind: "text";
  /** The text. */
  readonly text: string;
}

/** One JSON value. */
export interface JSONContent {
  readonly kind: "json";
  /** The value as JSON text, byte for byte as its author sent it. */
  readonly json: string;
  /** The value, decoded when it is first read. Integers beyond 2^53 are bigint. */
  readonly value: unknown;
}

/** A picture for models that can see, or any other bytes. */
export interface BlobContent {
  readonly kind: "image" | "file";
  /** The IANA media type, such as `image/png`. */
  readonly mediaType: string;
  /** A file name without folders; may be empty. */
  readonly name: string;
  /** The bytes. */
  readonly data: Uint8Array;
}

/** A result that toolhost keeps, and of which only a part is shown. */
export interface ArtifactContent {
  readonly kind: "artifact";
  /** By which a caller, or another tool, can read the whole. */
  readonly handle: string;
  /** The IANA media type of the whole. */
  readonly mediaType: string;
  /** The size of the whole, in bytes. */
  readonly size: number;
  /** The beginning of a text; empty for other media. */
  readonly head: string;
  /** The end of a text; empty for other media, or where `head` is the whole. */
  readonly tail: string;
  /** A file name without folders; may be empty. */
  readonly name: string;
}

/** One block of a result. Functions such as `text` make them; an object that only looks like one is a JSON value. */
export type Content = TextContent | JSONContent | BlobContent | ArtifactContent;

/** How an effect's value joins the value that the key has: take its place, become a list's last element, or be merged (RFC 7396). */
export type EffectOperation = "replace" | "append" | "merge";

/** A change to the run's context that a tool returns instead of making it. */
export interface Effect {
  /** The key of the run's context that changes. */
  readonly key: string;
  /** How `value` joins what is there. Default: `replace`. */
  readonly operation?: EffectOperation | undefined;
  /** A JSON value. */
  readonly value: unknown;
}

/** Counts tokens of a model. What is not set is 0. */
export interface Usage {
  /** Tokens read. */
  readonly inputTokens?: number;
  /** Tokens written. */
  readonly outputTokens?: number;
  /** Of the tokens read, those from the provider's cache. */
  readonly cacheReadTokens?: number;
  /** Tokens added to the provider's cache. */
  readonly cacheWriteTokens?: number;
}

/** What a result may say; see `result`. */
export interface ResultInit {
  /** The answer, in order; a string is a block of text. Default: none. */
  content?: string | Content | readonly (string | Content)[];
  /** Whether the tool says that it failed. Such a result carries no effects. */
  isError?: boolean;
  /** Changes to the run's context. */
  effects?: readonly Effect[];
  /** What the call used of a model. */
  usage?: Usage | undefined;
  /** What the call cost, in the unit of the tool's `costPerUse`. 0: the declared cost per use. */
  cost?: number;
  /** Whatever else is to be said, as JSON values by key. */
  metadata?: Readonly<Record<string, unknown>>;
  /** How long the tool ran. toolhost sets it; what a tool says is not read. */
  durationMs?: number;
}

/** What a call answers to the model. */
export class Result {
  /** The answer, in order. */
  readonly content: readonly Content[];
  /** Whether the tool says that it failed. */
  readonly isError: boolean;
  /** Changes to the run's context. */
  readonly effects: readonly Effect[];
  /** What the call used of a model; undefined: nothing. */
  readonly usage: Usage | undefined;
  /** What the call cost; 0: the declared cost per use. */
  readonly cost: number;
  /** Whatever else is said, as JSON values by key. Keys that begin with `toolhost.` are toolhost's. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How long the tool ran, in milliseconds. */
  readonly durationMs: number;

  /** Use `result`. */
  constructor(init: ResultInit) {
    const { content = [] } = init;
    const blocks = typeof content === "string" || isContent(content) ? [content] : content;
    this.content = blocks.map((block) => (typeof block === "string" ? text(block) : block));
    this.isError = init.isError ?? false;
    this.effects = init.effects ?? [];
    this.usage = init.usage;
    this.cost = init.cost ?? 0;
    this.metadata = init.metadata ?? {};
    this.durationMs = init.durationMs ?? 0;
  }

  /** All blocks as text, one below the other: what a person would be shown. Pictures and files are named only. */
  get text(): string {
    return this.content.map(asText).join("\n");
  }

  /** The value of the only JSON block. Throws a TypeError, which says what is there instead, if there is not exactly one. */
  get value(): unknown {
    const [block, ...more] = this.content.filter(({ kind }) => kind === "json");
    if (block?.kind !== "json" || more.length > 0) {
      const count = block ? more.length + 1 : 0;
      throw new TypeError(`the result has ${count} blocks of JSON, not one; it says: ${this.text}`);
    }
    return block.value;
  }
}

/** Returns a result: for tools that return several blocks, effects, costs or metadata. */
export function result(init: ResultInit): Result {
  return new Result(init);
}

/** Returns a block of plain text or Markdown. */
export function text(content: string): TextContent {
  return block({ kind: "text", text: content });
}

/** Returns a block of one JSON value. Throws where the value has no JSON form. */
export function json(value: unknown): JSONContent {
  return jsonText(encodeJSON(value));
}

/** What is said of the bytes of a picture or file. */
export interface BlobOptions {
  /** The IANA media type. Default: image/png for a picture, application/octet-stream for a file. */
  readonly mediaType?: string;
  /** A file name without folders. Default: empty. */
  readonly name?: string;
}

/** Returns a picture. Throws a TypeError where the media type is none. */
export function image(data: Uint8Array, options: BlobOptions = {}): BlobContent {
  return checked("image", data, { mediaType: "image/png", name: "", ...options });
}

/** Returns any other bytes. Throws a TypeError where the media type is none. */
export function file(data: Uint8Array, options: BlobOptions = {}): BlobContent {
  return checked("file", data, { mediaType: "application/octet-stream", name: "", ...options });
}

function checked(kind: "image" | "file", data: Uint8Array, { mediaType, name }: Required<BlobOptions>): BlobContent {
  if (!/^[^/\s]+\/[^/\s]/.test(mediaType) || !(data instanceof Uint8Array)) {
    throw new TypeError(`${kind}(bytes, { mediaType, name }) takes a Uint8Array and a media type such as image/png`);
  }
  return blob(kind, mediaType, name, data);
}

/** Returns a picture or file as somebody else has made it. */
export function blob(kind: "image" | "file", mediaType: string, name: string, data: Uint8Array): BlobContent {
  return block({ kind, mediaType, name, data });
}

/** Returns a block that hands an artifact on by its handle. */
export function artifact(init: Partial<ArtifactContent> & { handle: string }): ArtifactContent {
  const { handle, mediaType = "", size = 0, head = "", tail = "", name = "" } = init;
  return block({ kind: "artifact", handle, mediaType, size, head, tail, name });
}

/** Returns a block of JSON text that is known to be some. */
export function jsonText(encoded: string): JSONContent {
  let decoded: { value: unknown } | undefined;
  return block({
    kind: "json",
    json: encoded,
    get value() {
      decoded ??= { value: parseJSON(encoded) };
      return decoded.value;
    },
  });
}

// Shared by all copies of this package that a program may have.
const brand = Symbol.for("toolhost.content");

function block<C extends Content>(content: C): C {
  Object.defineProperty(content, brand, { value: true });
  return Object.freeze(content);
}

/** Reports whether a value is a block that one of the functions of this module made. */
export function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && brand in value;
}

/**
 * Turns what a tool returned into a result: nothing, text, blocks or JSON. Throws where it has no JSON form.
 */
export function resultOf(value: unknown): Result {
  if (value === undefined || value === null) {
    return result({});
  }
  if (value instanceof Result) {
    return value;
  }
  if (typeof value === "string" || isContent(value)) {
    return result({ content: value });
  }
  if (Array.isArray(value) && value.some(isContent)) {
    const odd = value.find((element) => typeof element !== "string" && !isContent(element));
    if (odd !== undefined) {
      throw new TypeError(`a list with blocks of content also holds ${describe(odd)}; make it a block with json()`);
    }
    return result({ content: value });
  }
  return result({ content: json(value) });
}

function describe(value: unknown): string {
  return value === null ? "null" : `a value of type ${typeof value}`;
}

function asText(content: Content): string {
  switch (content.kind) {
    case "text":
      return content.text;
    case "json":
      return content.json;
    case "artifact":
      return artifactText(content);
    default:
      return `[${content.kind}${content.name && ` ${content.name}`}, ${content.mediaType}, ${content.data.length} bytes]`;
  }
}

function artifactText(a: ArtifactContent): string {
  const shown = Buffer.byteLength(a.head) + Buffer.byteLength(a.tail);
  const advice = "A tool that takes the handle of an artifact can be given it, to read the rest or to work with the whole.]";
  if (shown === 0) {
    const what = ["content", a.name, a.mediaType].filter(Boolean).join(", ");
    return `[${what}, ${a.size} bytes, not shown: it is kept as artifact ${a.handle}. ${advice}`;
  }
  const head = a.head.endsWith("\n") ? a.head : `${a.head}\n`;
  return `${head}[Here ${a.size - shown} of ${a.size} bytes are not shown. The whole is kept as artifact ${a.handle}. ${advice}\n${a.tail}`;
}
