// Package tool defines the types that the sdk, the client, the host and the agent share: specs,
// calls, results, errors, statuses and events.
//
// It has data, and the rules for valid data. It starts nothing, does not use protobuf and imports
// only the standard library. docs/adr/0003 says why it is public.
//
// Fields of type json.RawMessage (arguments, schemas, context values) hold UTF-8 JSON text, which
// every component passes on unchanged.
package tool
