/** Artifacts, from the view of a tool. */
import { ToolError, ToolhostError } from "../error.js";
import { fromError } from "../wire/messages.js";
/**
 * A result of any tool that was too large to show. It never changes. It is read in pieces of 64
 * KiB, of which the last is cached. Iterating over it yields all pieces in order.
 */
export class Artifact {
    /** The IANA media type: text/plain for text, and application/json for JSON. */
    mediaType;
    /** The size in bytes. */
    size;
    /** A file name without folders. May be empty. */
    name;
    #read;
    #last;
    /** Use `Call.openArtifact`. */
    constructor(read, first) {
        ({ mediaType: this.mediaType, size: this.size, name: this.name } = first);
        this.#read = read;
        this.#last = first;
    }
    /**
     * Returns at most `length` bytes from an offset: fewer at the end of the artifact, and none
     * beyond it.
     */
    async bytes(offset = 0, length = this.size) {
        const parts = [];
        const end = Math.min(offset + length, this.size);
        for (let at = offset; at < end;) {
            const piece = await this.#from(at);
            const part = piece.subarray(0, end - at);
            parts.push(part);
            at += part.length;
        }
        return Buffer.concat(parts);
    }
    /** Returns the whole artifact as text. */
    async text() {
        return Buffer.from(await this.bytes()).toString("utf8");
    }
    /** Yields the whole artifact in pieces. */
    async *[Symbol.asyncIterator]() {
        for (let at = 0; at < this.size;) {
            const piece = await this.#from(at);
            yield piece;
            at += piece.length;
        }
    }
    async #from(offset) {
        const { offset: begin, data } = this.#last;
        if (offset >= begin && offset < begin + data.length) {
            return data.subarray(offset - begin);
        }
        const piece = await this.#read(offset);
        if (piece.data.length === 0) {
            throw new ToolhostError("internal", "the artifact is shorter than its size");
        }
        this.#last = piece;
        return piece.data;
    }
}
/**
 * Returns the implementation of `Call.openArtifact`. Requests run one after the other, because a
 * call may have only one open.
 */
export function artifactOpener(call) {
    let turn = Promise.resolve();
    const read = async (handle, offset) => {
        const answer = turn.then(() => call.ask(handle, offset, 0));
        turn = answer.catch(() => { });
        const { data, mediaType, size, name, error } = await answer;
        if (error) {
            const failure = fromError(error);
            // The handle is from the model, which can choose another.
            throw failure.kind === "not_found" ? new ToolError(failure.message) : failure;
        }
        return { offset, data, mediaType, size: Number(size), name };
    };
    return async (handle) => new Artifact((offset) => read(handle, offset), await read(handle, 0));
}
