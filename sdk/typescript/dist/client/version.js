/** The version of a running toolhost or agentd, as the program reports it. */
import { ToolhostError } from "../error.js";
/** Converts the version in an answer. `program` is the program that answered. */
export function versionInfo(message, program) {
    if (!message) {
        throw new ToolhostError("internal", `${program} sent no version`);
    }
    const { version, commit, contracts } = message;
    const { plugin = "", host = "", agent = "" } = contracts ?? {};
    return { version, commit, contracts: { plugin, host, agent } };
}
