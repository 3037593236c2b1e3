/** Where a server is: a unix socket, or a TCP port of a host. */
export interface Address {
    /** The absolute path of the socket. Undefined for TCP. */
    readonly path?: string;
    /** The port of a DNS name or an IP address. Undefined for a socket. */
    readonly tcp?: {
        readonly host: string;
        readonly port: number;
    };
    /** Whether it is the default socket of this user, because no address is configured. */
    readonly own?: boolean;
}
/** Parses an address: unix:///PATH or HOST:PORT. */
export declare function parseAddress(text: string): Address;
/** Reports whether an address is an IP address of loopback. */
export declare function isLoopback({ tcp }: Address): boolean;
/** Returns an address in the form that parseAddress accepts. */
export declare function formatAddress({ path, tcp }: Address): string;
/**
 * Returns the address at which a client finds a program: the given address, else the environment
 * variable PROGRAM_ADDR, else the default socket of this user.
 */
export declare function findAddress(given: string | undefined, program: string, env?: NodeJS.ProcessEnv): Address;
/**
 * Returns the addresses of servers of which any will do: those of a text with commas, or the one that
 * findAddress returns.
 */
export declare function findAddresses(given: string | undefined, program: string, env?: NodeJS.ProcessEnv): Address[];
/** The folder of the runtime folders of users, which systemd makes for them alone. */
export declare const runtimes: {
    path: string;
};
/**
 * Throws if another user may have created a socket. A socket of this user or of root is trusted.
 * Root may connect to any socket that is configured explicitly. For a default socket the check is
 * stricter: it applies to root as well, and no other user may have write permission on the folder.
 * Otherwise another user could create a socket at the predictable path.
 */
export declare function checkOwner(address: Address): Promise<void>;
