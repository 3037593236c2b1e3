/** Connecting to a server, with clear reasons for a failure. */
import { connect, isIP } from "node:net";
import * as tls from "node:tls";
import { Client, type ClientOptions, connectivityState } from "@grpc/grpc-js";
import { type Address, checkOwner } from "./address.js";
import { channelCredentials, type TLSFiles } from "./credentials.js";

/** The longest duration of a connection attempt. */
const connectLimitMs = 10_000;

/**
 * Returns a connected client, which uses TLS if there are files for it. Throws an error with a short
 * reason.
 */
export async function dial(address: Address, files: TLSFiles | undefined, options: ClientOptions): Promise<Client> {
  await checkOwner(address).catch(async (error: unknown) => {
    throw new Error(reasonOf(error));
  });
  const context = files?.context();
  const name = files?.serverName;
  const client = new Client(targetOf(address), channelCredentials(context), {
    ...options,
    ...(name !== undefined && { "grpc.ssl_target_name_override": name, "grpc.default_authority": name }),
  });
  try {
    await ready(client.getChannel());
    return client;
  } catch (error) {
    client.close();
    throw new Error(await reasonFor(address, context, name, error));
  }
}

/** Converts an address to a gRPC target. */
function targetOf({ path, tcp }: Address): string {
  if (path !== undefined) {
    return `unix:${path}`;
  }
  const host = tcp?.host ?? "";
  const forms: Readonly<Record<number, string>> = { 4: `ipv4:${host}`, 6: `ipv6:[${host}]` };
  return `${forms[isIP(host)] ?? `dns:${host}`}:${tcp?.port}`;
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
async function reasonFor(
  { path, tcp }: Address,
  secureContext: tls.SecureContext | undefined,
  name: string | undefined,
  error: unknown,
): Promise<string> {
  const { host = "", port = 0 } = tcp ?? {};
  const servername = name ?? (isIP(host) ? "" : host);
  // The name in the certificate is checked against servername, or else against the host.
  const secured = () => tls.connect({ host, port, secureContext, servername, ALPNProtocols: ["h2"], timeout: 5_000 });
  const refusal = await new Promise<NodeJS.ErrnoException>((resolve) => {
    const plain = () => (path === undefined ? connect({ host, port }) : connect({ path }));
    const socket = secureContext ? secured() : plain();
    socket.on("error", resolve);
    socket.on("timeout", () => socket.destroy(new Error("the server did not answer in time")));
    socket.on(secureContext ? "secureConnect" : "connect", () => {
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
