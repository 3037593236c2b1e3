import { Client, type ClientOptions } from "@grpc/grpc-js";
import { type Address } from "./address.js";
import { type TLSFiles } from "./credentials.js";
/**
 * Returns a connected client, which uses TLS if there are files for it. Throws an error with a short
 * reason.
 */
export declare function dial(address: Address, files: TLSFiles | undefined, options: ClientOptions): Promise<Client>;
