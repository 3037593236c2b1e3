/** The unread events of one call. */
/**
 * The bytes that toolhost may send for a call before it needs credit. The protocol fixes this
 * value.
 */
export declare const windowBytes: number;
/**
 * Stores the events of a call until the caller reads them, and then grants their size as credit to
 * toolhost. So a call whose caller does not read blocks no other call.
 */
export declare class Inbox<T> {
    #private;
    /** `grant` sends credit to toolhost. */
    constructor(grant: (bytes: number) => void);
    /** Adds an item with its cost in bytes. */
    put(item: T, cost: number): void;
    /** Adds the last item. Later items are discarded. */
    finish(item: T): void;
    /** Waits for the next item. Only one caller may wait, and none after the last item. */
    next(): Promise<T>;
    /** Discards all unread and all later items. */
    drop(): void;
}
