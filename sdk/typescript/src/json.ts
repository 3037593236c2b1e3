/**
 * JSON text as it travels: arguments, structured results, context values and schemas are JSON text on every hop, and are
 * decoded and encoded only here.
 */

/**
 * JSON text that is sent as it is, byte for byte. It can stand wherever a JSON value is given, also inside of one: for
 * numbers that JavaScript would round, and for text that another program has encoded.
 */
export class RawJSON {
  /** The text. */
  readonly text: string;

  /** Throws a SyntaxError where the text is no JSON. */
  constructor(text: string) {
    JSON.parse(text);
    this.text = text;
  }
}

/** Returns JSON text that is sent as it is. Throws a SyntaxError where it is no JSON. */
export function rawJSON(text: string): RawJSON {
  return new RawJSON(text);
}

/**
 * Returns the JSON text of a value. A bigint becomes a number with all its digits, and RawJSON its text. Throws where
 * the value has no JSON form: undefined, functions, cycles.
 */
export function encodeJSON(value: unknown): string {
  if (value instanceof RawJSON) {
    return value.text;
  }
  const verbatim: string[] = [];
  // Not to be guessed, so that no string of the value can be taken for a mark.
  const mark = `raw-${crypto.randomUUID()}-`;
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "bigint" && !(part instanceof RawJSON)) {
      return part;
    }
    verbatim.push(typeof part === "bigint" ? part.toString() : part.text);
    return `${mark}${verbatim.length - 1}`;
  });
  if (text === undefined) {
    throw new TypeError(`a value of type ${typeof value} has no JSON form`);
  }
  if (verbatim.length === 0) {
    return text;
  }
  return text.replace(new RegExp(`"${mark}(\\d+)"`, "g"), (_, index: string) => verbatim[Number(index)] ?? "null");
}

/** Returns the JSON text of a value as bytes; see encodeJSON. */
export function encodeJSONBytes(value: unknown): Uint8Array {
  return Buffer.from(encodeJSON(value));
}

/** Returns the text that bytes hold; what is no UTF-8 is replaced. */
export function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/**
 * Returns the value of JSON text. Integers that a number cannot hold exactly, those beyond 2^53, become a bigint, where
 * JSON.parse would round them; encodeJSON writes them as they were.
 */
export function parseJSON(text: string): unknown {
  if (!/\d{16}/.test(text)) {
    return JSON.parse(text);
  }
  JSON.parse(text); // what is no JSON is refused before it is rewritten
  const mark = `big-${crypto.randomUUID()}-`;
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}
