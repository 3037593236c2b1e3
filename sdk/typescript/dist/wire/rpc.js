/** Conversion of service descriptors to the form that gRPC expects. */
import { fromBinary, toBinary, } from "@bufbuild/protobuf";
/** Returns bytes as a Buffer over the same memory. */
export function asBuffer(bytes) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
/** Returns an encoder for a message type. */
export function encoder(schema) {
    return (message) => asBuffer(toBinary(schema, message));
}
/** Returns a decoder for a message type. */
export function decoder(schema) {
    return (bytes) => fromBinary(schema, bytes);
}
/** Converts one method. */
export function methodDefinition(method) {
    return {
        path: `/${method.parent.typeName}/${method.name}`,
        requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
        responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
        requestSerialize: encoder(method.input),
        requestDeserialize: decoder(method.input),
        responseSerialize: encoder(method.output),
        responseDeserialize: decoder(method.output),
    };
}
/** Converts a service. */
export function serviceDefinition(service) {
    return Object.fromEntries(service.methods.map((method) => [method.name, methodDefinition(method)]));
}
