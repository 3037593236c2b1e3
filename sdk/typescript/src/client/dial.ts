/** Connecting to a server, with clear reasons for a failure. */
import { connect } from "node:net";
import { Client, type ClientOptions, connectivityState, credentials } from "@grpc/grpc-js";
import { type Address, checkOwner } from "./address.js";

/** The longest duration of a connection attempt. */
const connectLimitMs = 10_000;

/** Returns a connected client. Throws an error with a short reason. */
export async function dial(address: Address, options: ClientOptions): Promise<Client> {
  await checkOwner(address).catch(async (error: unknown) => {
    throw new Error(reasonOf(error));
  });
  const client = new Client(targetOf(address), credentials.createInsecure(), options);
  try {
    await ready(client.getChannel());
    return client;
  } catch (error) {
    client.close();
    throw new Error(await reasonFor(address, error));
  }
}

/** Converts an address to a gRPC target. */
function targetOf({ path, tcp }: Address): string {
  if (path !== undefined) {
    return `unix:${path}`;
  }
  const host = tcp?.host ?? "";
  return `${host.includes(":") ? `ipv6:[${host}]` : `ipv4:${host}`}:${tcp?.port}`;
}

/** Waits until a channel is connected. Rejects if the attempt fails. */
async function ready(channel: ReturnType<Client["getChannel"]>): Promise<void> {
  const deadline = Date.now() + connectLimitMs;
  for (;;) {
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.READY) {
      return;
    }
    if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) {
      throw new Error("the connection could not be made");
    }
    await new Promise<void>((resolve, reject) => {
      channel.watchConnectivityState(state, deadline, (error) =>
        error ? reject(new Error("the server did not answer in time")) : resolve(),
      );
    });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  ECONNREFUSED: "connection refused",
  EACCES: "permission denied",
};

/**
 * Returns why a connection failed. gRPC does not report the error of the operating system, so this
 * connects once more.
 */
async function reasonFor({ path, tcp }: Address, error: unknown): Promise<string> {
  const refusal = await new Promise<NodeJS.ErrnoException>((resolve) => {
    const socket = path === undefined ? connect({ host: tcp?.host ?? "", port: tcp?.port ?? 0 }) : connect({ path });
    socket.on("error", resolve);
    socket.on("connect", () => {
      socket.destroy();
      resolve(error instanceof Error ? error : new Error(String(error)));
    });
  });
  return reasonOf(refusal);
}

function reasonOf(error: unknown): string {
  const { code = "", message = String(error) } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}
