/** Artifacts, as tools read them. */
import { ToolError, ToolhostError } from "../error.js";
import { fromError } from "../wire/messages.js";
import type { WireCall } from "./wirecall.js";

/**
 * A result that was too large to be shown, of whatever tool. It never changes. It is read in pieces of 64 KiB, of which
 * the last is kept; iterating over it yields them from the first to the last.
 */
export class Artifact implements AsyncIterable<Uint8Array> {
  /** Its IANA media type, such as text/plain for what was text and application/json for what was JSON. */
  readonly mediaType: string;
  /** How many bytes it has. */
  readonly size: number;
  /** Its file name without folders; may be empty. */
  readonly name: string;
  readonly #read: Read;
  #last: Piece;

  /** Use Call.openArtifact. */
  constructor(read: Read, first: Piece) {
    ({ mediaType: this.mediaType, size: this.size, name: this.name } = first);
    this.#read = read;
    this.#last = first;
  }

  /** Returns at most `length` bytes from an offset on: fewer only where the artifact ends, and none behind its end. */
  async bytes(offset = 0, length = this.size): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    const end = Math.min(offset + length, this.size);
    for (let at = offset; at < end; ) {
      const piece = await this.#from(at);
      const part = piece.subarray(0, end - at);
      parts.push(part);
      at += part.length;
    }
    return Buffer.concat(parts);
  }

  /** Returns the whole as text. */
  async text(): Promise<string> {
    return Buffer.from(await this.bytes()).toString("utf8");
  }

  /** Yields the whole, piece by piece. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.size; ) {
      const piece = await this.#from(at);
      yield piece;
      at += piece.length;
    }
  }

  async #from(offset: number): Promise<Uint8Array> {
    const { offset: begin, data } = this.#last;
    if (offset >= begin && offset < begin + data.length) {
      return data.subarray(offset - begin);
    }
    const piece = await this.#read(offset);
    if (piece.data.length === 0) {
      throw new ToolhostError("internal", "the artifact ends before its size");
    }
    this.#last = piece;
    return piece.data;
  }
}

/** A piece of an artifact. */
export interface Piece {
  readonly offset: number;
  readonly data: Uint8Array;
  readonly mediaType: string;
  readonly size: number;
  readonly name: string;
}

/** Reads a piece from an offset on, as large as there are. */
export type Read = (offset: number) => Promise<Piece>;

/** Returns what opens artifacts in a call. A call has at most one question open, so they wait for each other. */
export function artifactOpener(call: WireCall): (handle: string) => Promise<Artifact> {
  let turn: Promise<unknown> = Promise.resolve();
  const read = async (handle: string, offset: number): Promise<Piece> => {
    const answer = turn.then(() => call.ask(handle, offset, 0));
    turn = answer.catch(() => {});
    const { data, mediaType, size, name, error } = await answer;
    if (error) {
      const failure = fromError(error);
      // The handle came from the model, which can choose another.
      throw failure.kind === "not_found" ? new ToolError(failure.message) : failure;
    }
    return { offset, data, mediaType, size: Number(size), name };
  };
  return async (handle) => new Artifact((offset) => read(handle, offset), await read(handle, 0));
}
