/** Detection of the end of toolhost. */
/**
 * Detects that toolhost is gone, so that the plugin does not outlive it. Before toolhost connects,
 * this checks the parent process. Afterwards the end of the last connection shows it, because only
 * toolhost connects.
 */
export declare class Lifeline {
    #private;
    /**
     * Starts the checks. Create it before the handshake is printed. `lost` runs when toolhost is
     * gone.
     */
    constructor(lost: () => void, parent?: () => number);
    /** Counts a connection. */
    connected(): void;
    /** Counts the end of a connection. The end of the last one means that toolhost is gone. */
    disconnected(): void;
    /** Stops the checks. */
    stop(): void;
}
