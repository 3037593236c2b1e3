/** What has come of one call and is not read yet. */

/** What toolhost may send of a call before its reader has read some. The contract says so. */
export const windowBytes = 256 << 10;

/**
 * Keeps what comes of a call until its reader takes it, and gives toolhost credit for what was taken, so that a call that
 * nobody reads holds up no other.
 */
export class Inbox<T> {
  readonly #grant: (bytes: number) => void;
  readonly #queue: { readonly item: T; readonly cost: number }[] = [];
  #taken = 0; // and is not granted again yet
  #finished = false;
  #dropped = false; // nobody reads any more
  #wake = () => {};

  /** `grant` tells toolhost how much more it may send. */
  constructor(grant: (bytes: number) => void) {
    this.#grant = grant;
  }

  /** Adds what cost toolhost so many bytes. */
  put(item: T, cost: number): void {
    if (this.#finished || this.#dropped) {
      this.#grant(cost); // nobody reads it, and the call must get to its end
      return;
    }
    this.#queue.push({ item, cost });
    this.#wake();
  }

  /** Adds the last item. Only the first one counts; what comes later is not kept. */
  finish(item: T): void {
    if (!this.#finished) {
      this.#finished = true;
      this.#queue.push({ item, cost: 0 });
      this.#wake();
    }
  }

  /** Returns the next item, and waits until there is one. Only one may wait, and none after the last. */
  async next(): Promise<T> {
    for (;;) {
      const next = this.#queue.shift();
      if (next) {
        this.#take(next.cost);
        return next.item;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  // Half a window at a time: toolhost never waits for a grant per event, and never runs dry before one comes.
  #take(cost: number): void {
    this.#taken += cost;
    if (this.#taken >= windowBytes / 2 && !this.#finished) {
      this.#grant(this.#taken);
      this.#taken = 0;
    }
  }

  /** Forgets what was not taken, and keeps nothing from now on. */
  drop(): void {
    this.#dropped = true;
    this.#queue.length = 0;
    if (!this.#finished) {
      this.#grant(windowBytes); // in place of what was not read
    }
  }
}
