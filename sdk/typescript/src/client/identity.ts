/** The identities of clients, and of the principals for which they make requests. */
import { ToolhostError } from "../error.js";
import type { CallerInfo as CallerMessage } from "../gen/toolhost/tool/v1/caller_pb.js";
import { fromTime } from "../wire/scalars.js";

/**
 * The principal for which a delegate makes a request, such as the user of an agent. toolhost trusts the
 * delegate to have verified the principal.
 */
export interface Principal {
  /** The name within the tenant: 1 to 128 printable ASCII characters without spaces. */
  readonly name: string;
  /** The tenant. Default: default. */
  readonly tenant?: string;
  /** The groups within the tenant. At most 64. */
  readonly groups?: readonly string[];
}

/** Converts a principal to the field of a request. The client itself is no field. */
export function onBehalfOfField(principal: Principal | undefined) {
  if (!principal) {
    return {};
  }
  const { name, tenant = "", groups = [] } = principal;
  return { onBehalfOf: { name, tenant, groups: [...groups] } };
}

/** A role that one binding of the server gives to a principal. */
export interface GrantedRole {
  /** The name of the role, such as caller. */
  readonly role: string;
  /** The tenants in which the principal has the role. Empty if `allTenants` is true. */
  readonly tenants: readonly string[];
  /** Whether the principal has the role in every tenant. */
  readonly allTenants: boolean;
  /** The patterns of names of tools to which the binding is limited. Empty: all tools. */
  readonly tools: readonly string[];
}

/** A right of a caller. */
export interface GrantedRight {
  /** The name of the right, such as tools.call. */
  readonly right: string;
  /** The tenants in which the caller has the right. Empty if `allTenants` is true. */
  readonly tenants: readonly string[];
  /** Whether the caller has the right in every tenant. */
  readonly allTenants: boolean;
}

/** How a server identified a client, and what the client may do there. */
export interface CallerInfo {
  /**
   * The key of the principal: its name in the tenant default, and TENANT/NAME in another tenant or if
   * the name contains a slash.
   */
  readonly principal: string;
  /** The tenant of the principal. */
  readonly tenant: string;
  /** The groups of the principal, in no order. */
  readonly groups: readonly string[];
  /** peer (the user of a unix socket), certificate, token, jwt, or none (an anonymous caller). */
  readonly credential: string;
  /** The name of the credential, such as the id of a token. Empty: it has no name. */
  readonly credentialId: string;
  /** When the credential expires. Undefined: it does not expire. */
  readonly expireTime: Date | undefined;
  /** From where the client reached the server: an IP address, or unix. */
  readonly address: string;
  /** The roles to which the token is limited. Empty: the token has no such limit. */
  readonly scopeRoles: readonly string[];
  /** The patterns of names of tools to which the token is limited. Empty: the token has no such limit. */
  readonly scopeTools: readonly string[];
  /**
   * The roles that bindings give to the principal. `rights` takes the limits of the token into account,
   * and this list does not.
   */
  readonly roles: readonly GrantedRole[];
  /** The rights that the client has, limited to those that the server knows a use for. */
  readonly rights: readonly GrantedRight[];
}

/** Converts the caller in an answer. `program` is the program that answered. */
export function callerInfo(message: CallerMessage | undefined, program: string): CallerInfo {
  if (!message) {
    throw new ToolhostError("internal", `${program} sent no caller`);
  }
  const { principal, tenant, groups, credential, credentialId, address, scopeRoles, scopeTools } = message;
  return {
    principal,
    tenant,
    groups,
    credential,
    credentialId,
    expireTime: fromTime(message.expireTime),
    address,
    scopeRoles,
    scopeTools,
    roles: message.roles.map(({ role, tenants, allTenants, tools }) => ({ role, tenants, allTenants, tools })),
    rights: message.rights.map(({ right, tenants, allTenants }) => ({ right, tenants, allTenants })),
  };
}
