/** The identities of clients, and of the principals for which they make requests. */
import { ToolhostError } from "../error.js";
import { fromTime } from "../wire/scalars.js";
/** Converts a principal to the field of a request. The client itself is no field. */
export function onBehalfOfField(principal) {
    if (!principal) {
        return {};
    }
    const { name, tenant = "", groups = [] } = principal;
    return { onBehalfOf: { name, tenant, groups: [...groups] } };
}
/** Converts the caller in an answer. `program` is the program that answered. */
export function callerInfo(message, program) {
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
