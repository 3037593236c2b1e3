/** Notices that toolhost is gone, however it went. */

/** How often a plugin that nobody has connected to looks whether its parent lives. */
const parentIntervalMs = 250;
/** How long a plugin waits to be connected to: longer takes nothing but a toolhost that is gone. */
const connectLimitMs = 5 * 60_000;

/**
 * Before toolhost has connected, its process is looked for; from then on the connection tells, since there is only one,
 * and so does the stream that carries the calls.
 */
export class Lifeline {
  readonly #lost: () => void;
  readonly #look: NodeJS.Timeout;
  readonly #limit: NodeJS.Timeout;
  #connections = 0;

  /** Begins to watch; it must be made before the handshake is printed. `lost` is called when toolhost is gone. */
  constructor(lost: () => void, parent: () => number = () => process.ppid) {
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
  connected(): void {
    this.stop();
    this.#connections++;
  }

  /** Counts a connection that has ended. The last one takes toolhost along. */
  disconnected(): void {
    this.#connections--;
    if (this.#connections === 0) {
      this.#end();
    }
  }

  /** Looks no more. */
  stop(): void {
    clearInterval(this.#look);
    clearTimeout(this.#limit);
  }

  #end(): void {
    this.stop();
    this.#lost();
  }
}
