/** Results that arrive in chunks. */
import type { Content } from "../gen/toolhost/tool/v1/result_pb.js";
/** Stores the chunks of a result until its end arrives. */
export declare class Pieces {
    #private;
    /** Adds a chunk of the block at an index. */
    add({ index, data }: {
        readonly index: number;
        readonly data: Uint8Array;
    }): void;
    /** Prepends the chunks to the payloads of their blocks. */
    join(content: readonly Content[]): void;
}
