/** Conversion of service descriptors to the form that gRPC expects. */
import { type DescMessage, type DescMethod, type DescService, type MessageShape } from "@bufbuild/protobuf";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
/** Returns bytes as a Buffer over the same memory. */
export declare function asBuffer(bytes: Uint8Array): Buffer;
/** Returns an encoder for a message type. */
export declare function encoder<D extends DescMessage>(schema: D): (message: MessageShape<D>) => Buffer;
/** Returns a decoder for a message type. */
export declare function decoder<D extends DescMessage>(schema: D): (bytes: Buffer) => MessageShape<D>;
/** Converts one method. */
export declare function methodDefinition<I extends DescMessage, O extends DescMessage>(method: DescMethod & {
    input: I;
    output: O;
}): MethodDefinition<MessageShape<I>, MessageShape<O>>;
/** Converts a service. */
export declare function serviceDefinition(service: DescService): ServiceDefinition;
