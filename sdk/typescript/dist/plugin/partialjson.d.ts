/** Parsing of incomplete JSON text. */
/**
 * Parses JSON text in pieces, and returns the value so far. It reads each character once. It does
 * not validate everything; the complete text is parsed again before the call is executed.
 */
export declare class PartialJSON {
    #private;
    /** Whether the text is not the beginning of JSON. The value so far remains. */
    get broken(): boolean;
    /** Reads the next piece. A piece may end at any byte, also inside a UTF-8 sequence. */
    write(piece: Uint8Array): void;
    /**
     * The value so far as JSON text, or "" if there is none yet. Open objects, arrays and strings are
     * closed. It omits every part that later text could change: a key without a value, a number at
     * the end of the text, and an incomplete literal or escape.
     */
    get value(): string;
}
