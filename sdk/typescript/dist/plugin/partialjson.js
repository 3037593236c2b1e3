/** Parsing of incomplete JSON text. */
/** A number that more text may continue, and a complete number. */
const numberPrefix = /^-?(?:0|[1-9]\d*)?(?:(?<=\d)\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?$/;
const wholeNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/**
 * Parses JSON text in pieces, and returns the value so far. It reads each character once. It does
 * not validate everything; the complete text is parsed again before the call is executed.
 */
export class PartialJSON {
    #text = "";
    #known = 0; // the text up to here is a JSON value once all open parts are closed
    #at = 0; // index of the next character
    #stack = []; // the closing characters of the open objects and arrays
    #state = "value";
    #begin = 0; // start of the current literal, number or escape
    #rest = ""; // remaining characters of the literal
    #escape = false;
    #high = false; // the last escape was a high surrogate
    #broken = false;
    #decoder = new TextDecoder();
    /** Whether the text is not the beginning of JSON. The value so far remains. */
    get broken() {
        return this.#broken;
    }
    /** Reads the next piece. A piece may end at any byte, also inside a UTF-8 sequence. */
    write(piece) {
        this.#text += this.#decoder.decode(piece, { stream: true });
        while (!this.#broken && this.#at < this.#text.length) {
            this.#step(this.#text.charAt(this.#at));
            this.#at++;
        }
    }
    /**
     * The value so far as JSON text, or "" if there is none yet. Open objects, arrays and strings are
     * closed. It omits every part that later text could change: a key without a value, a number at
     * the end of the text, and an incomplete literal or escape.
     */
    get value() {
        if (this.#known === 0) {
            return "";
        }
        const quote = this.#state === "inString" ? '"' : "";
        return this.#text.slice(0, this.#known) + quote + this.#stack.toReversed().join("");
    }
    #step(c) {
        if (this.#state === "inString" || this.#state === "inKey") {
            this.#stepString(c);
            return;
        }
        if (this.#state === "literal") {
            this.#stepLiteral(c);
            return;
        }
        if (this.#state === "number") {
            if (numberPrefix.test(this.#text.slice(this.#begin, this.#at + 1))) {
                return;
            }
            if (!wholeNumber.test(this.#text.slice(this.#begin, this.#at))) {
                this.#broken = true;
                return;
            }
            this.#end(this.#at);
        }
        if (c !== " " && c !== "\t" && c !== "\r" && c !== "\n") {
            this.#stepStructure(c);
        }
    }
    #stepStructure(c) {
        switch (this.#state) {
            case "firstItem":
            case "value":
                if (this.#state === "firstItem" && c === "]") {
                    this.#pop();
                }
                else {
                    this.#beginValue(c);
                }
                return;
            case "firstKey":
            case "key":
                if (c === '"') {
                    this.#state = "inKey";
                }
                else if (c === "}" && this.#state === "firstKey") {
                    this.#pop();
                }
                else {
                    this.#broken = true;
                }
                return;
            case "colon":
                this.#state = "value";
                this.#broken = c !== ":";
                return;
            default: {
                const closer = this.#stack.at(-1);
                if (closer !== undefined && c === ",") {
                    this.#state = closer === "}" ? "key" : "value";
                }
                else if (closer !== undefined && c === closer) {
                    this.#pop();
                }
                else {
                    this.#broken = true;
                }
            }
        }
    }
    #beginValue(c) {
        this.#begin = this.#at;
        const literal = { t: "rue", f: "alse", n: "ull" }[c];
        if (c === "{" || c === "[") {
            this.#stack.push(c === "{" ? "}" : "]");
            this.#state = c === "{" ? "firstKey" : "firstItem";
            this.#known = this.#at + 1;
        }
        else if (c === '"') {
            this.#state = "inString";
            this.#known = this.#at + 1;
        }
        else if (literal) {
            this.#state = "literal";
            this.#rest = literal;
        }
        else if (c === "-" || (c >= "0" && c <= "9")) {
            this.#state = "number";
        }
        else {
            this.#broken = true;
        }
    }
    #stepLiteral(c) {
        if (c !== this.#rest[0]) {
            this.#broken = true;
            return;
        }
        this.#rest = this.#rest.slice(1);
        if (this.#rest === "") {
            this.#end(this.#at + 1);
        }
    }
    #stepString(c) {
        if (this.#escape) {
            this.#stepEscape(c);
        }
        else if (c === "\\") {
            this.#escape = true;
            this.#begin = this.#at;
        }
        else if (c === '"') {
            this.#high = false;
            if (this.#state === "inKey") {
                this.#state = "colon";
            }
            else {
                this.#end(this.#at + 1);
            }
        }
        else if (c < " ") {
            this.#broken = true;
        }
        else {
            this.#high = false;
            this.#knowString(this.#at + 1);
        }
    }
    #stepEscape(c) {
        const read = this.#text.slice(this.#begin, this.#at + 1);
        if (read.length === 2) {
            if (c === "u") {
                return;
            }
            this.#escape = false;
            this.#high = false;
            this.#broken = !'"\\/bfnrt'.includes(c);
            if (!this.#broken) {
                this.#knowString(this.#at + 1);
            }
            return;
        }
        if (!/^[0-9a-fA-F]$/.test(c)) {
            this.#broken = true;
        }
        else if (read.length === 6) {
            this.#escape = false;
            this.#endUnicode(Number.parseInt(read.slice(2), 16));
        }
    }
    // A high surrogate is pending until the next escape shows whether a low surrogate follows.
    #endUnicode(unit) {
        if (unit >= 0xd800 && unit <= 0xdbff) {
            if (this.#high) {
                this.#knowString(this.#begin);
            }
            this.#high = true;
            return;
        }
        this.#high = false;
        this.#knowString(this.#at + 1);
    }
    #knowString(end) {
        if (this.#state === "inString") {
            this.#known = end;
        }
    }
    #pop() {
        this.#stack.pop();
        this.#end(this.#at + 1);
    }
    #end(at) {
        this.#state = "after";
        this.#known = at;
    }
}
