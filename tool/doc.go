// Package tool holds the words of toolhost: names, specs, calls, results, errors, statuses and events.
//
// It is what the sdk, the client, the host and the agent all speak, so that none of them has words of its own. It holds
// data and the rules that make data well-formed; it starts nothing, knows no protobuf and imports only the standard
// library. See docs/adr/0003 for why it is public.
//
// JSON values (arguments, schemas, context values) are json.RawMessage: UTF-8 JSON text that is handed on as it is.
package tool
