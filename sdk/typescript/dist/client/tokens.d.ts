/** A bearer token. */
export interface Token {
    readonly value: string;
    /** The client renews the token before. Default: unknown, or the `exp` of a JWT. */
    readonly expires?: Date | undefined;
}
/** Produces tokens. The errors contain no token. */
export interface TokenSource {
    fetch(): Promise<Token>;
    /** Whether `fetch` would return another token, if that is known without fetching. */
    changed(): boolean;
}
/** A source that calls a function. */
export declare function fromFunction(produce: () => string | Token | Promise<string | Token>): TokenSource;
/** A source that reads a file again when the file has changed. */
export declare function fromFile(path: string): TokenSource;
/**
 * A source that runs a line of shell. Standard error of the command is that of the program, because
 * an error must not contain what a command prints.
 */
export declare function fromCommand(line: string): TokenSource;
/** Reads a small file. */
export declare function readBounded(path: string): Buffer;
/** The current token of a source. One fetch serves all RPCs that need a token. */
export declare class TokenCache {
    #private;
    constructor(source: TokenSource);
    /**
     * Returns the current token. It fetches one if there is none, if it expires soon, or if the source
     * has changed. If that fails, the old token is returned until it expires.
     */
    get(): Promise<Token>;
    /** Whether `get` would return this token at once. */
    has(token: Token): boolean;
    /** Reports whether there is another token than a refused one, after fetching one. */
    renew(refused: Token): Promise<boolean>;
}
