/** Resources and prompts that plugins offer besides tools. */
import { text } from "../content.js";
import { PromptRole, } from "../gen/toolhost/v1/resources_pb.js";
import { fromContent } from "../wire/messages.js";
/** Converts a resource. */
export function toResource({ plugin, uri, name, title, description, mediaType, size }) {
    return { plugin, uri, name, title, description, mediaType, size: Number(size) };
}
/** Converts a template. */
export function toTemplate({ plugin, uriTemplate, name, title, description, mediaType }) {
    return { plugin, uriTemplate, name, title, description, mediaType };
}
/** Converts a part of a resource. */
export function toPart({ uri, mediaType, content }) {
    return { uri, mediaType, content: (content && fromContent(content)) ?? text("") };
}
/** Converts a prompt. */
export function toPrompt({ plugin, name, title, description, arguments: all }) {
    const args = all.map((a) => ({ name: a.name, title: a.title, description: a.description, required: a.required }));
    return { plugin, name, title, description, arguments: args };
}
/** Converts a message of a prompt. An unknown role becomes that of the user. */
export function toMessage({ role, body }) {
    const of = role === PromptRole.ASSISTANT ? "assistant" : "user";
    if (body.case === "resource") {
        return { role: of, resource: toPart(body.value) };
    }
    return { role: of, content: (body.case === "content" && fromContent(body.value)) || text("") };
}
