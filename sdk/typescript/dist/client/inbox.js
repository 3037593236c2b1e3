/** The unread events of one call. */
/**
 * The bytes that toolhost may send for a call before it needs credit. The protocol fixes this
 * value.
 */
export const windowBytes = 256 << 10;
/**
 * Stores the events of a call until the caller reads them, and then grants their size as credit to
 * toolhost. So a call whose caller does not read blocks no other call.
 */
export class Inbox {
    #grant;
    #queue = [];
    #taken = 0; // bytes that were read since the last grant
    #finished = false;
    #dropped = false; // the caller has detached
    #wake = () => { };
    /** `grant` sends credit to toolhost. */
    constructor(grant) {
        this.#grant = grant;
    }
    /** Adds an item with its cost in bytes. */
    put(item, cost) {
        if (this.#finished || this.#dropped) {
            this.#grant(cost); // so that toolhost can send the events up to the end
            return;
        }
        this.#queue.push({ item, cost });
        this.#wake();
    }
    /** Adds the last item. Later items are discarded. */
    finish(item) {
        if (!this.#finished) {
            this.#finished = true;
            this.#queue.push({ item, cost: 0 });
            this.#wake();
        }
    }
    /** Waits for the next item. Only one caller may wait, and none after the last item. */
    async next() {
        for (;;) {
            const next = this.#queue.shift();
            if (next) {
                this.#take(next.cost);
                return next.item;
            }
            await new Promise((resolve) => {
                this.#wake = resolve;
            });
        }
    }
    // Granting half a window at a time saves frames, and the other half lets toolhost send until the
    // grant arrives.
    #take(cost) {
        this.#taken += cost;
        if (this.#taken >= windowBytes / 2 && !this.#finished) {
            this.#grant(this.#taken);
            this.#taken = 0;
        }
    }
    /** Discards all unread and all later items. */
    drop() {
        this.#dropped = true;
        this.#queue.length = 0;
        if (!this.#finished) {
            this.#grant(windowBytes); // covers the discarded items
        }
    }
}
