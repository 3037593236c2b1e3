/** Stores the chunks of a result until its end arrives. */
export class Pieces {
    #pieces = new Map();
    /** Adds a chunk of the block at an index. */
    add({ index, data }) {
        const pieces = this.#pieces.get(index) ?? [];
        this.#pieces.set(index, pieces);
        pieces.push(data);
    }
    /** Prepends the chunks to the payloads of their blocks. */
    join(content) {
        for (const [index, pieces] of this.#pieces) {
            const block = content[index]?.block;
            if (block?.case === "text") {
                block.value = Buffer.concat([...pieces, Buffer.from(block.value)]).toString("utf8");
            }
            else if (block?.case === "json") {
                block.value = Buffer.concat([...pieces, block.value]);
            }
            else if (block?.case === "image" || block?.case === "file") {
                block.value.data = Buffer.concat([...pieces, block.value.data]);
            }
        }
    }
}
