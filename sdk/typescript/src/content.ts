/** Results of calls: blocks of content, effects, token usage and cost. */
import { encodeJSON, parseJSON, plainJSON } from "./json.js";

/** Plain text or Markdown. */
export interface TextContent {
  readonly kind: "text";
  /** The text. */
  readonly text: string;
}

/** One JSON value. */
export interface JSONContent {
  readonly kind: "json";
  /** The value as JSON text, byte for byte as the tool sent it. */
  readonly json: string;
  /** The decoded value. Integers beyond 2^53 are bigint. */
  readonly value: unknown;
}

/** An image for models that accept images, or a file of any other media type. */
export interface BlobContent {
  readonly kind: "image" | "file";
  /** The IANA media type, such as `image/png`. */
  readonly mediaType: string;
  /** A file name without folders. May be empty. */
  readonly name: string;
  /** The bytes. */
  readonly data: Uint8Array;
}

/** Content that is too large for a result. toolhost stores it, and the handle reads it. */
export interface ArtifactContent {
  readonly kind: "artifact";
  /** The handle by which a caller or another tool reads the content. */
  readonly handle: string;
  /** The IANA media type of the complete content. */
  readonly mediaType: string;
  /** The size of the complete content, in bytes. */
  readonly size: number;
  /** The beginning of a text. Empty for other media types. */
  readonly head: string;
  /** The end of a text. Empty for other media types, or if `head` is the complete text. */
  readonly tail: string;
  /** A file name without folders. May be empty. */
  readonly name: string;
}

/**
 * One block of a result. Functions such as `text` create blocks. Any other object is a JSON value.
 */
export type Content = TextContent | JSONContent | BlobContent | ArtifactContent;

/**
 * How an effect combines its value with the existing one: replace it, append to a list, or apply a
 * JSON merge patch (RFC 7396).
 */
export type EffectOperation = "replace" | "append" | "merge";

/** A change to the run context that a tool requests in its result. */
export interface Effect {
  /** The key of the run context. The tool must declare it in `effectKeys`. */
  readonly key: string;
  /** How `value` is combined with the existing value. Default: `replace`. */
  readonly operation?: EffectOperation | undefined;
  /** A JSON value. */
  readonly value: unknown;
}

/** The model tokens that a call used. A missing property is 0. */
export interface Usage {
  /** Input tokens. */
  readonly inputTokens?: number;
  /** Output tokens. */
  readonly outputTokens?: number;
  /** The input tokens that the cache of the provider supplied. */
  readonly cacheReadTokens?: number;
  /** The tokens that the call added to the cache of the provider. */
  readonly cacheWriteTokens?: number;
}

/** The argument of `result`. */
export interface ResultInit {
  /** The blocks, in order. A string is a block of text. Default: none. */
  content?: string | Content | readonly (string | Content)[];
  /** Whether the tool reports a failure. The effects of such a result are discarded. */
  isError?: boolean;
  /** Changes to the run context. */
  effects?: readonly Effect[];
  /** The model tokens that the call used. */
  usage?: Usage | undefined;
  /** The cost of the call, in the unit of `costPerUse`. 0 means `costPerUse` itself. */
  cost?: number;
  /** Further JSON values by key. */
  metadata?: Readonly<Record<string, unknown>>;
  /** How long the tool ran. toolhost sets it and ignores what a tool sets. */
  durationMs?: number;
}

/** The result of a call, which the model reads. */
export class Result {
  /** The blocks, in order. */
  readonly content: readonly Content[];
  /** Whether the tool reports a failure. */
  readonly isError: boolean;
  /** Changes to the run context. */
  readonly effects: readonly Effect[];
  /** The model tokens that the call used. Undefined if it used none. */
  readonly usage: Usage | undefined;
  /** The cost of the call. 0 means the declared cost per use. */
  readonly cost: number;
  /** Further JSON values by key. Keys that begin with `toolhost.` are reserved. */
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

  /** All blocks as text. An image, file or artifact becomes a line that describes it. */
  get text(): string {
    return this.content.map(asText).join("\n");
  }

  /**
   * The value of the only JSON block. Throws a TypeError if the result does not have exactly one
   * JSON block.
   */
  get value(): unknown {
    const [block, ...more] = this.content.filter(({ kind }) => kind === "json");
    if (block?.kind !== "json" || more.length > 0) {
      const count = block ? more.length + 1 : 0;
      throw new TypeError(`the result has ${count} blocks of JSON, not one; it says: ${this.text}`);
    }
    return block.value;
  }
}

/** Returns a result, for tools that return several blocks, effects, a cost or metadata. */
export function result(init: ResultInit): Result {
  return new Result(init);
}

/** Returns a block of plain text or Markdown. */
export function text(content: string): TextContent {
  return block({ kind: "text", text: content });
}

/** Returns a block of one JSON value. Throws if JSON cannot represent the value. */
export function json(value: unknown): JSONContent {
  return jsonText(encodeJSON(value));
}

/** The properties of an image or file. */
export interface BlobOptions {
  /** The IANA media type. Default: image/png for an image, application/octet-stream for a file. */
  readonly mediaType?: string;
  /** A file name without folders. Default: empty. */
  readonly name?: string;
}

/** Returns an image. Throws a TypeError for an invalid media type. */
export function image(data: Uint8Array, options: BlobOptions = {}): BlobContent {
  return checked("image", data, { mediaType: "image/png", name: "", ...options });
}

/** Returns a file. Throws a TypeError for an invalid media type. */
export function file(data: Uint8Array, options: BlobOptions = {}): BlobContent {
  return checked("file", data, { mediaType: "application/octet-stream", name: "", ...options });
}

function checked(kind: "image" | "file", data: Uint8Array, { mediaType, name }: Required<BlobOptions>): BlobContent {
  if (!/^[^/\s]+\/[^/\s]/.test(mediaType) || !(data instanceof Uint8Array)) {
    throw new TypeError(`${kind}(bytes, { mediaType, name }) takes a Uint8Array and a media type such as image/png`);
  }
  return blob(kind, mediaType, name, data);
}

/** Returns an image or file without validating it, because toolhost sent it. */
export function blob(kind: "image" | "file", mediaType: string, name: string, data: Uint8Array): BlobContent {
  return block({ kind, mediaType, name, data });
}

/** Returns a block that passes an artifact on by its handle. */
export function artifact(init: Partial<ArtifactContent> & { handle: string }): ArtifactContent {
  const { handle, mediaType = "", size = 0, head = "", tail = "", name = "" } = init;
  return block({ kind: "artifact", handle, mediaType, size, head, tail, name });
}

/** Returns a block of JSON text without validating the text. */
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

// Symbol.for shares the symbol with other copies of this package in the same program.
const brand = Symbol.for("toolhost.content");

function block<C extends Content>(content: C): C {
  Object.defineProperty(content, brand, { value: true });
  return Object.freeze(content);
}

/** Reports whether one of the functions of this module created a value. */
export function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && brand in value;
}

/** The parts of a value that a warning names. */
const MAX_NAMED = 5;

/**
 * Converts the return value of a tool to a result. What JSON cannot represent becomes text, and
 * warn gets a message that names it. Throws for a list of blocks that holds other values.
 */
export function resultOf(value: unknown, warn: (message: string) => void = () => {}): Result {
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
  try {
    return result({ content: json(value) });
  } catch (error) {
    const { text, places } = plainJSON(value);
    const named = places.slice(0, MAX_NAMED).join(", ") || "a part of it";
    warn(
      `the result cannot be encoded as JSON, so that ${named} became text: ${error instanceof Error ? error.message : error}`,
    );
    return result({ content: jsonText(text) });
  }
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
