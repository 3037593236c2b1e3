/** Results that arrive in chunks. */
import type { Content } from "../gen/toolhost/tool/v1/result_pb.js";

/** Stores the chunks of a result until its end arrives. */
export class Pieces {
  readonly #pieces = new Map<number, Uint8Array[]>();

  /** Adds a chunk of the block at an index. */
  add({ index, data }: { readonly index: number; readonly data: Uint8Array }): void {
    const pieces = this.#pieces.get(index) ?? [];
    this.#pieces.set(index, pieces);
    pieces.push(data);
  }

  /** Prepends the chunks to the payloads of their blocks. */
  join(content: readonly Content[]): void {
    for (const [index, pieces] of this.#pieces) {
      const block = content[index]?.block;
      if (block?.case === "text") {
        block.value = Buffer.concat([...pieces, Buffer.from(block.value)]).toString("utf8");
      } else if (block?.case === "json") {
        block.value = Buffer.concat([...pieces, block.value]);
      } else if (block?.case === "image" || block?.case === "file") {
        block.value.data = Buffer.concat([...pieces, block.value.data]);
      }
    }
  }
}
