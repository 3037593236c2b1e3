/** A client of toolhost. */
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import { ToolService } from "../gen/toolhost/v1/tool_service_pb.js";
import { toValues } from "../wire/scalars.js";
import { findAddress, formatAddress } from "./address.js";
import { CallStream } from "./callstream.js";
import { type CallEvent, EventReader, type Outcome } from "./events.js";
import { Execution } from "./execution.js";
import { sayable } from "./failure.js";
import { Link } from "./link.js";
import {
  type ArgumentStream,
  type Arguments,
  type ArtifactPiece,
  argumentBytes,
  type CallKey,
  type CallOptions,
  isStream,
  optionsMessage,
} from "./options.js";
import {
  type RenderedTools,
  selectionMessage,
  type ToolFormat,
  type ToolInfo,
  type ToolMatch,
  type ToolQuery,
  toolFormats,
  toolInfo,
  type Viewer,
} from "./tools.js";

/** What either end accepts in one message. */
const maxMessageBytes = 4 << 20;

/**
 * A client of one toolhost. It connects when it is first used, and anew when the connection was lost. All that its methods
 * throw is a ToolhostError, which has a kind. A client that is not closed does not keep the process from ending.
 */
export class Toolhost {
  readonly #link: Link;
  #stream: CallStream | undefined; // the last one

  /**
   * Makes a client of the toolhost at an address: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. Default: the environment's
   * TOOLHOST_ADDR, else the default socket of this user. It does not connect.
   */
  constructor(options: { address?: string } = {}) {
    this.#link = new Link(findAddress(options.address, "toolhost"), "toolhost", maxMessageBytes);
  }

  /** The address of the toolhost. */
  get address(): string {
    return formatAddress(this.#link.address);
  }

  /** Ends the connection. Calls that are under way end as if it was lost. */
  close(): void {
    this.#link.close();
  }

  /** Makes a unary RPC of any service of toolhost, such as `AdminService.method.listPlugins` of `@toolhost/sdk/proto`. */
  invoke<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    signal?: AbortSignal,
  ): Promise<MessageShape<O>> {
    return this.#link.unary(method, request, signal);
  }

  /** Returns the tools that match, ordered by name. */
  async listTools(query: ToolQuery = {}): Promise<ToolInfo[]> {
    const tools: ToolInfo[] = [];
    for (let pageToken = ""; ; ) {
      const page = await this.#link.unary(
        ToolService.method.listTools,
        { selection: selectionMessage(query), pageToken, pageSize: 1000 }, // the most that toolhost answers with: fewer requests
        query.signal,
      );
      tools.push(...page.tools.map(toolInfo));
      pageToken = page.nextPageToken;
      if (!pageToken) {
        return tools;
      }
    }
  }

  /** Returns one tool. Kinds of errors: not_found. */
  async getTool(name: string, viewer: Viewer = {}): Promise<ToolInfo> {
    const { session = "", context, signal } = viewer;
    const request = sayable(() => ({ name, session, context: toValues(context) }));
    const answer = await this.#link.unary(ToolService.method.getTool, request, signal);
    if (!answer.tool) {
      throw new ToolhostError("internal", "toolhost sent no tool");
    }
    return toolInfo(answer.tool);
  }

  /** Returns the tools that hold one of the words, the best match first. */
  async searchTools(words: string, query: ToolQuery = {}): Promise<ToolMatch[]> {
    const request = { query: words, selection: selectionMessage(query) };
    const { matches } = await this.#link.unary(ToolService.method.searchTools, request, query.signal);
    return matches.flatMap(({ tool, score }) => (tool ? [{ tool: toolInfo(tool), score }] : []));
  }

  /** Returns the tools that match and can be called, exactly as a model's API or a prompt wants them. */
  async renderTools(format: ToolFormat, query: ToolQuery = {}): Promise<RenderedTools> {
    if (!Object.hasOwn(toolFormats, format)) {
      const known = Object.keys(toolFormats).join(", ");
      throw new ToolhostError("invalid_argument", `there is no form ${JSON.stringify(format)} of tools; use one of ${known}`);
    }
    const request = { format: toolFormats[format], selection: selectionMessage(query) };
    const answer = await this.#link.unary(ToolService.method.renderTools, request, query.signal);
    const { mediaType, tools } = answer;
    const omitted = answer.omitted.map(({ name, reason }) => ({ name, reason }));
    return { content: Buffer.from(answer.content).toString("utf8"), mediaType, tools, omitted };
  }

  /**
   * Executes a call and waits for its end. Throws a ToolhostError if the machinery failed; a tool that says that it failed
   * is a result with `isError`. `show` is given every event before the end as it comes.
   */
  async call(
    tool: string,
    args: Arguments = {},
    options: CallOptions & { show?: (event: CallEvent) => void } = {},
  ): Promise<Outcome> {
    const execution = this.#execute(tool, args, options, !options.show);
    if (!options.show) {
      return execution.outcome();
    }
    for await (const event of execution) {
      if (event.type !== "ended") {
        options.show(event);
      }
    }
    return execution.outcome();
  }

  /**
   * Begins a call and returns it while it runs. Without arguments, `send` brings their text as it comes and `complete` ends
   * it; a tool that declares `partialArguments` is shown it meanwhile. The call is executed once its arguments are complete.
   */
  execute(tool: string, args: Arguments | undefined, options: CallOptions = {}): Execution {
    return this.#execute(tool, args, options, false);
  }

  #execute(tool: string, args: Arguments | undefined, options: CallOptions, outcomeOnly: boolean): Execution {
    const { signal } = options;
    const opening = { tool, options: { ...sayable(() => optionsMessage(options)), outcomeOnly }, signal };
    if (args === undefined || isStream(args)) {
      const execution = new Execution(this.#calls(), opening, undefined);
      if (args) {
        void bring(args, execution);
      }
      return execution;
    }
    const whole = sayable(() => argumentBytes(args));
    return new Execution(this.#calls(), opening, whole);
  }

  /** Returns the stream that all calls share, a new one where that takes no more. */
  #calls(): CallStream {
    if (!this.#stream?.free) {
      this.#stream = new CallStream(this.#link, maxMessageBytes);
    }
    return this.#stream;
  }

  /**
   * Yields the events of a call that exists, made by this client or another of the same user: those after a number that are
   * kept, then new ones, up to `ended`. Leaving the loop does not end the call. Kinds of errors: not_found.
   */
  async *watchCall(callId: string, options: CallKey & { afterSeq?: number } = {}): AsyncGenerator<CallEvent> {
    const { session = "", afterSeq = 0, signal } = options;
    const request = sayable(() => ({ callId, session, afterSeq: BigInt(afterSeq) }));
    const reader = new EventReader();
    for await (const { event: message } of this.#link.stream(ToolService.method.watchCall, request, signal)) {
      const event = message && reader.read(message);
      if (event) {
        yield event;
      }
    }
  }

  /** Asks to stop a call, whoever made or follows it, and does not wait until it has ended. Kinds of errors: not_found. */
  async cancelCall(callId: string, options: CallKey & { reason?: string } = {}): Promise<void> {
    const { session = "", reason = "", signal } = options;
    await this.#link.unary(ToolService.method.cancelCall, { callId, session, reason }, signal);
  }

  /**
   * Returns a piece of an artifact, by the handle that stands in a result: at most `limit` bytes (default 64 KiB, at most
   * 1 MiB) from an offset on. Kinds of errors: not_found.
   */
  async readArtifact(handle: string, options: CallKey & { offset?: number; limit?: number } = {}): Promise<ArtifactPiece> {
    const { session = "", offset = 0, limit = 0, signal } = options;
    const request = sayable(() => ({ handle, session, offset: BigInt(offset), limit }));
    const { data, mediaType, size, name } = await this.#link.unary(ToolService.method.readArtifact, request, signal);
    return { data, mediaType, size: Number(size), name };
  }

  /** Yields the whole of an artifact, piece by piece. Kinds of errors: not_found. */
  async *artifact(handle: string, options: CallKey = {}): AsyncGenerator<Uint8Array> {
    for (let offset = 0; ; ) {
      const { data, size } = await this.readArtifact(handle, { ...options, offset, limit: 1 << 20 });
      if (data.length > 0) {
        yield data;
      }
      offset += data.length;
      if (data.length === 0 || offset >= size) {
        return;
      }
    }
  }
}

/** Brings a call its arguments as they come. Where they cannot be had, the call ends unexecuted. */
async function bring(args: ArgumentStream, execution: Execution): Promise<void> {
  try {
    for await (const piece of args) {
      await execution.send(piece);
      if (execution.over) {
        return;
      }
    }
    await execution.complete();
  } catch (error) {
    execution.abandon(error);
  }
}
