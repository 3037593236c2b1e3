/** The version of a running toolhost or agentd, as the program reports it. */
import { ToolhostError } from "../error.js";
import type { VersionInfo as VersionMessage } from "../gen/toolhost/tool/v1/version_pb.js";

/**
 * The contracts of a version, by the names of their protobuf packages. Each name ends with the major
 * version of the contract. toolhost and agentd both report all three. An empty name means that the
 * program does not report it.
 */
export interface Contracts {
  /** Between toolhost and plugins, such as toolhost.plugin.v1. */
  readonly plugin: string;
  /** Between toolhost and its callers, such as toolhost.v1. */
  readonly host: string;
  /** Between agentd and its callers, such as agentd.v1. */
  readonly agent: string;
}

/** Identifies the build of a running toolhost or agentd. Its version may differ from that of this package. */
export interface VersionInfo {
  /** A semantic version, such as 1.2.3. */
  readonly version: string;
  /**
   * The commit that the program was built from, with "-dirty" if files were changed. "unknown" if
   * the program does not contain it.
   */
  readonly commit: string;
  /** The contracts of the version. */
  readonly contracts: Contracts;
}

/** Converts the version in an answer. `program` is the program that answered. */
export function versionInfo(message: VersionMessage | undefined, program: string): VersionInfo {
  if (!message) {
    throw new ToolhostError("internal", `${program} sent no version`);
  }
  const { version, commit, contracts } = message;
  const { plugin = "", host = "", agent = "" } = contracts ?? {};
  return { version, commit, contracts: { plugin, host, agent } };
}
