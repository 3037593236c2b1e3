/** Detection of the end of toolhost. */
/** How often a plugin without a connection checks its parent process. */
const parentIntervalMs = 250;
/** How long a plugin waits for the first connection before it assumes that toolhost is gone. */
const connectLimitMs = 5 * 60_000;
/**
 * Detects that toolhost is gone, so that the plugin does not outlive it. Before toolhost connects,
 * this checks the parent process. Afterwards the end of the last connection shows it, because only
 * toolhost connects.
 */
export class Lifeline {
    #lost;
    #look;
    #limit;
    #connections = 0;
    /**
     * Starts the checks. Create it before the handshake is printed. `lost` runs when toolhost is
     * gone.
     */
    constructor(lost, parent = () => process.ppid) {
        this.#lost = lost;
        const born = parent();
        const look = () => {
            if (parent() !== born) {
                this.#end();
            }
        };
        this.#look = setInterval(look, parentIntervalMs);
        this.#limit = setTimeout(() => this.#end(), connectLimitMs);
    }
    /** Counts a connection. */
    connected() {
        this.stop();
        this.#connections++;
    }
    /** Counts the end of a connection. The end of the last one means that toolhost is gone. */
    disconnected() {
        this.#connections--;
        if (this.#connections === 0) {
            this.#end();
        }
    }
    /** Stops the checks. */
    stop() {
        clearInterval(this.#look);
        clearTimeout(this.#limit);
    }
    #end() {
        this.stop();
        this.#lost();
    }
}
