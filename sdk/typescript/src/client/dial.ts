/** Making a connection, and why none can be made. */
import { connect } from "node:net";
import { Client, type ClientOptions, connectivityState, credentials } from "@grpc/grpc-js";
import { type Address, checkOwner } from "./address.js";

/** How long connecting may take. */
const connectLimitMs = 10_000;

/** Returns a client that is connected. Throws an error that says in few words why nobody answers. */
export async function dial(address: Address, options: ClientOptions): Promise<Client> {
  await checkOwner(address).catch(async (error: unknown) => {
    throw new Error(wordsOf(error));
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

/** An address as gRPC writes it. */
function targetOf({ path, tcp }: Address): string {
  if (path !== undefined) {
    return `unix:${path}`;
  }
  const host = tcp?.host ?? "";
  return `${host.includes(":") ? `ipv6:[${host}]` : `ipv4:${host}`}:${tcp?.port}`;
}

/** Waits until a channel is connected, or could not be. */
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
        error ? reject(new Error("nobody answered in time")) : resolve(),
      );
    });
  }
}

const words: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  ECONNREFUSED: "connection refused",
  EACCES: "permission denied",
};

/** Says why nobody answers, in the operating system's words where it was that which refused: gRPC does not tell. */
async function reasonFor({ path, tcp }: Address, error: unknown): Promise<string> {
  const refusal = await new Promise<NodeJS.ErrnoException>((resolve) => {
    const socket = path === undefined ? connect({ host: tcp?.host ?? "", port: tcp?.port ?? 0 }) : connect({ path });
    socket.on("error", resolve);
    socket.on("connect", () => {
      socket.destroy();
      resolve(error instanceof Error ? error : new Error(String(error)));
    });
  });
  return wordsOf(refusal);
}

function wordsOf(error: unknown): string {
  const { code = "", message = String(error) } = error as NodeJS.ErrnoException;
  return words[code] ?? message;
}
