/** The calls of one Connect stream in a plugin, by number. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { Result } from "../content.js";
import { ToolhostError } from "../error.js";
import type { CallEndSchema, ConnectRequest, Settlement as SettlementMessage } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { ContentSchema, type Result as ResultMessage, ResultSchema } from "../gen/toolhost/tool/v1/result_pb.js";
import { toError, toResult } from "../wire/messages.js";
import { clip } from "../wire/scalars.js";
import { toSettlement } from "../wire/settlements.js";
import { type Callable, execute, settle } from "./execute.js";
import type { Plugin } from "./plugin.js";
import { RunningCall } from "./runningcall.js";
import { logToStderr } from "./stdio.js";
import { recordSpans } from "./tracing.js";
import { pieceBytes, WireCall, type Write } from "./wirecall.js";

/** The most blocks of a result. */
const maxBlocks = 4096;
/** The largest end of a call in bytes, because only content can be sent ahead in chunks. */
const maxEndBytes = 1 << 20;

type End = MessageInitShape<typeof CallEndSchema>;

/** The calls of one stream. */
export class CallStream {
  readonly #plugin: string;
  readonly #callables: ReadonlyMap<string, Callable>;
  readonly #write: Write;
  readonly #calls = new Map<number, WireCall>(); // calls that have not ended
  readonly #work = new Set<Promise<void>>();

  constructor(plugin: Plugin, write: Write) {
    this.#plugin = plugin.name;
    this.#write = write;
    this.#callables = new Map<string, Callable>([
      ...(plugin.tools ?? []).map((t): [string, Callable] => [t.spec.name, { tool: t }]),
      ...(plugin.filters ?? []).map((f): [string, Callable] => [f.name, { filter: f }]),
    ]);
  }

  /** Handles a frame of toolhost without waiting for the call. */
  take(request: ConnectRequest): void {
    const { call: number, frame } = request;
    if (frame.case !== "start") {
      this.#calls.get(number)?.take(request);
      return;
    }
    if (this.#calls.has(number)) {
      logToStderr("error", "toolhost used the number of a call that has not ended", { call: number });
      return;
    }
    const call = new WireCall(number, frame.value, this.#write);
    this.#calls.set(number, call);
    const work = this.#run(number, call).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /** Cancels all calls and waits for them. */
  async close(): Promise<void> {
    for (const call of this.#calls.values()) {
      call.stop(new ToolhostError("cancelled", "toolhost has closed the connection"));
    }
    await Promise.allSettled(this.#work);
  }

  async #run(number: number, call: WireCall): Promise<void> {
    let outcome: End;
    try {
      outcome = {
        outcome: call.start.settle
          ? { case: "settlement", value: await this.#settlement(call) }
          : { case: "result", value: await this.#result(call) },
      };
    } catch (error) {
      outcome = { outcome: { case: "error", value: failureMessage(call, error) } };
    }
    this.#calls.delete(number);
    try {
      await call.end({ case: "end", value: outcome });
    } catch {
      // The stream has ended, so toolhost does not receive the end of the call.
    }
  }

  #open(call: WireCall): { callable: Callable; running: RunningCall } {
    const callable = this.#callables.get(call.start.tool);
    if (!callable) {
      const words = `the plugin ${JSON.stringify(this.#plugin)} has no tool ${JSON.stringify(call.start.tool)}`;
      throw new ToolhostError("not_found", words);
    }
    const keys = "tool" in callable ? (callable.tool.spec.contextKeys ?? []) : [];
    return { callable, running: new RunningCall(call, keys) };
  }

  async #settlement(call: WireCall): Promise<SettlementMessage> {
    const { callable, running } = this.#open(call);
    try {
      const settlement = await settle(callable, running, call);
      return toSettlement(call.start.callId, settlement);
    } catch (error) {
      if (error instanceof ToolhostError) {
        throw error;
      }
      const message = `the check of tool ${JSON.stringify(call.start.tool)}: encoding the settlement: ${words(error)}`;
      throw new ToolhostError("internal", message, { cause: error });
    } finally {
      await running.finish(true);
    }
  }

  async #result(call: WireCall): Promise<ResultMessage> {
    const { callable, running } = this.#open(call);
    let answer: Result | undefined;
    try {
      const work = () => execute(callable, running, call);
      answer = await (call.start.context?.spanBytes ? recordSpans(call, work) : work());
    } finally {
      await running.finish(answer !== undefined && !answer.isError);
    }
    return sendAhead(call, encodeResult(answer, call.start.tool));
  }
}

function encodeResult(answer: Result, tool: string): ResultMessage {
  try {
    return toResult(answer);
  } catch (error) {
    throw new ToolhostError("internal", `tool ${JSON.stringify(tool)}: encoding the result: ${words(error)}`, { cause: error });
  }
}

/** Sends large blocks in chunks, and returns the result with the remaining content. */
async function sendAhead(call: WireCall, message: ResultMessage): Promise<ResultMessage> {
  if (message.content.length > maxBlocks) {
    const words = `the tool's result has ${message.content.length} blocks; there may be ${maxBlocks}`;
    throw new ToolhostError("internal", words);
  }
  let room = pieceBytes; // bytes for the payloads of all blocks together
  for (const [index, content] of message.content.entries()) {
    const payload = takePayload(content, Math.max(room, 0));
    if (!payload) {
      room -= toBinary(ContentSchema, content).length;
      continue;
    }
    for (let at = 0; at < payload.length; at += pieceBytes) {
      await call.send({ case: "chunk", value: { index, data: payload.subarray(at, at + pieceBytes) } });
    }
  }
  const size = toBinary(ResultSchema, message).length;
  if (size > maxEndBytes) {
    const words = `the effects, metadata and artifacts of the tool's result have ${size} bytes; at most ${maxEndBytes} can be sent`;
    throw new ToolhostError("internal", words);
  }
  return message;
}

/** Removes the payload from a block and returns it, if it has more than `room` bytes. */
function takePayload({ block }: ResultMessage["content"][number], room: number): Uint8Array | undefined {
  switch (block.case) {
    case "text": {
      if (Buffer.byteLength(block.value) <= room) {
        return undefined;
      }
      const payload = Buffer.from(block.value);
      block.value = "";
      return payload;
    }
    case "json": {
      const payload = block.value;
      if (payload.length <= room) {
        return undefined;
      }
      block.value = new Uint8Array();
      return payload;
    }
    case "image":
    case "file": {
      const payload = block.value.data;
      if (payload.length <= room) {
        return undefined;
      }
      block.value.data = new Uint8Array();
      return payload;
    }
    default:
      return undefined;
  }
}

function failureMessage(call: WireCall, error: unknown) {
  let failure = error instanceof ToolhostError ? error : new ToolhostError("internal", words(error), { cause: error });
  if (!(error instanceof ToolhostError) && call.signal.aborted && call.signal.reason instanceof ToolhostError) {
    failure = call.signal.reason;
  }
  const message = errorOf(failure);
  message.message = clip(message.message, pieceBytes);
  return message;
}

/**
 * Converts an error to its message. An error with values of wrong types, which JavaScript code can
 * create, still ends its call.
 */
function errorOf(failure: ToolhostError) {
  try {
    return toError(failure);
  } catch (cause) {
    return toError(new ToolhostError("internal", `${failure.message} (${words(cause)})`));
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
