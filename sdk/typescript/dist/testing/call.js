import { result } from "../content.js";
/** A call in a test. Its properties are complete once `ended` has settled. */
export class TestCall {
    /** The statuses that the tool reported, in order. */
    statuses = [];
    /** The records that the tool logged, in order. */
    logs = [];
    /** Settles when the call has ended. It never rejects. */
    ended;
    /** The result of the tool. Undefined before the end, and if there is an error. */
    result;
    /** The infrastructure error. Undefined before the end, and if the tool returned a result. */
    error;
    #toolhost;
    #number = 0;
    #waiting = new Set();
    #over = false;
    /**
     * Use TestHost. `refusal` is the message of toolhost for arguments that do not fit the schema.
     */
    constructor(toolhost, start, options, refusal) {
        this.#toolhost = toolhost;
        if (refusal !== undefined) {
            this.result = result({ content: refusal, isError: true });
            this.#over = true;
            this.ended = Promise.resolve();
            return;
        }
        const { signal, artifacts = {}, answer } = options;
        const heard = { statuses: this.statuses, logs: this.logs, news: () => this.#news() };
        const { number, ended } = toolhost.open(start, heard, artifacts, answer);
        this.#number = number;
        const cancel = () => this.cancel(signal?.reason instanceof Error ? signal.reason.message : "");
        if (signal?.aborted) {
            cancel();
        }
        signal?.addEventListener("abort", cancel, { once: true });
        this.ended = ended.then((outcome) => {
            signal?.removeEventListener("abort", cancel);
            this.result = outcome.result;
            this.error = outcome.error;
            this.#over = true;
            this.#news();
        });
    }
    /** The result as text. Empty before the end. Throws the error if there is one. */
    get text() {
        return this.#answered()?.text ?? "";
    }
    /** The value of the only JSON block. Throws the error if there is one. */
    get value() {
        return this.#answered()?.value;
    }
    /** Whether the tool reports a failure. */
    get isError() {
        return this.result?.isError ?? false;
    }
    /** Sends the next piece of argument text. */
    append(text) {
        this.#toolhost.send(this.#number, { case: "append", value: { text: Buffer.from(text) } });
    }
    /** Marks the arguments as complete. If `text` is given, it replaces the text that was sent. */
    complete(text = "") {
        this.#toolhost.send(this.#number, { case: "complete", value: { arguments: Buffer.from(text) } });
    }
    /** Requests cancellation of the call. */
    cancel(reason = "") {
        this.#toolhost.send(this.#number, { case: "cancel", value: { reason } });
    }
    /** Waits for a status for which `fits` returns true. Rejects if the call ends without one. */
    async status(fits) {
        for (;;) {
            const found = this.statuses.find(fits);
            if (found) {
                return found;
            }
            if (this.#over) {
                throw new Error("the call ended without that status");
            }
            await new Promise((resolve) => this.#waiting.add(resolve));
        }
    }
    #answered() {
        if (this.error) {
            throw this.error;
        }
        return this.result;
    }
    #news() {
        for (const go of this.#waiting) {
            this.#waiting.delete(go);
            go();
        }
    }
}
