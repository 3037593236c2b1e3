/** A client whose toolhost is the plugin under test. */
import { create } from "@bufbuild/protobuf";
import { argumentBytes, isStream, typedOutcome, } from "../client/options.js";
import { toolInfo } from "../client/tools.js";
import { Result } from "../content.js";
import { ToolhostError } from "../error.js";
import { ToolSchema } from "../gen/toolhost/v1/tool_service_pb.js";
import { describePlugin } from "../plugin/dynamic.js";
import { toValues } from "../wire/scalars.js";
/**
 * Implements ToolCaller with the tools of a plugin under test. It returns and throws what a
 * Toolhost does. `approval`, `maxShownBytes`, `ledgerId`, `firstSent`, `onBehalfOf` and `onEvent` have no
 * effect, because no policy applies, no result becomes an artifact, and there is neither a ledger nor a
 * principal.
 */
export class TestClient {
    #host;
    #plugin;
    #number = 0;
    /** Use `TestHost.client`. */
    constructor(host, plugin) {
        this.#host = host;
        this.#plugin = plugin;
    }
    /** Returns the matching tools, ordered by name. */
    async listTools(query = {}) {
        const tools = (await this.#tools(query)).filter((tool) => matches(tool, query));
        return tools.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, query.maxTools ?? tools.length);
    }
    /** Returns one tool. Error kinds: not_found. */
    async getTool(name, viewer = {}) {
        const found = (await this.#tools(viewer)).find((tool) => tool.name === name);
        if (!found) {
            throw new ToolhostError("not_found", `there is no tool ${JSON.stringify(name)}`);
        }
        return found;
    }
    async #tools({ session = "", context }) {
        const { name, version = "" } = this.#plugin;
        const { tools } = await describePlugin(this.#plugin, { tools: [], session, context: toValues(context) });
        return tools.map((spec) => toolInfo(create(ToolSchema, { spec, plugin: name, pluginVersion: version })));
    }
    async call(tool, args = {}, options = {}) {
        const { callId = `test-${++this.#number}`, session, timeoutMs, context, traceparent, signal } = options;
        const known = { callId, session, timeoutMs, context, traceparent, signal };
        const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
        const { result, error } = await this.#host.call(tool, await textOf(args), given);
        if (error) {
            throw error;
        }
        const plugin = this.#plugin.name;
        const outcome = { callId, plugin, instance: `${plugin}-test`, replayed: false, result: result ?? new Result({}) };
        return options.output ? typedOutcome(outcome, options.output) : outcome;
    }
}
async function textOf(args) {
    if (!isStream(args)) {
        return Buffer.from(argumentBytes(args)).toString("utf8");
    }
    const pieces = [];
    for await (const piece of args) {
        pieces.push(Buffer.from(piece));
    }
    return Buffer.concat(pieces).toString("utf8");
}
/** Reports whether a tool matches every property of a query. */
function matches(tool, { names, categories, tags, plugins, excluded, dangerous, maxCostPerUse }) {
    return ((names?.includes(tool.name) ?? true) &&
        (categories?.includes(tool.category) ?? true) &&
        (tags?.some((tag) => tool.tags.includes(tag)) ?? true) &&
        (plugins?.includes(tool.plugin) ?? true) &&
        !(excluded?.includes(tool.name) ?? false) &&
        (dangerous === undefined || tool.dangerous === dangerous) &&
        (maxCostPerUse === undefined || tool.costPerUse <= maxCostPerUse));
}
