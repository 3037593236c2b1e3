// Package sdk turns Go functions into tools of a toolhost plugin. An author of tools needs no other
// package.
//
//	type In struct {
//		City string `json:"city" jsonschema:"the city's name, in English"`
//		Days int    `json:"days,omitempty" default:"1" minimum:"1" maximum:"14"`
//	}
//
//	func forecast(ctx context.Context, in In) (string, error) { … }
//
//	func main() {
//		sdk.Serve(sdk.Plugin{Name: "weather", Version: "1.0.0", Tools: []sdk.Tool{
//			sdk.Func(sdk.Spec{Name: "forecast", Description: "…", ReadOnly: true}, forecast),
//		}})
//	}
//
// # Arguments
//
// The SDK derives the input schema from the struct. A field is required unless its json tag has
// omitempty or omitzero, or it has a default. The schema refuses properties that no struct
// declares, at every depth. These struct tags add to the schema:
//
//	jsonschema            the meaning of the field, for the model
//	default               the value of an absent field: JSON, or plain text for a string
//	enum, examples        values, separated by commas, or a JSON array
//	minimum, maximum      bounds of a number
//	minLength, maxLength  bounds of a text, in characters
//	pattern, format       a regular expression; a JSON Schema format
//	minItems, maxItems    bounds of a list
//	aliases               other names by which models send the field, separated by commas
//
// toolhost renames an argument that was sent under one of its aliases, and shows aliases to no
// model. The alias * of a list of structs says that models send the fields of its only item in
// place of the list.
//
// On a list or map, enum, minimum, maximum, minLength, maxLength, pattern and format apply to its
// elements. A pointer may be null. time.Time is an RFC 3339 text, []byte is base64, json.RawMessage
// and any are any JSON, where any holds an integer beyond ±2^53 as a json.Number and each other
// number as a float64, and a type with a MarshalText method is a text. Spec.InputSchema replaces
// the derived schema. The input of the function may also be json.RawMessage or a map, which get the
// arguments undecoded.
//
// A tool only gets arguments that fit its schema, with defaults. For other arguments, the model
// gets an error that says what is wrong.
//
// # Results
//
// The model reads what the function returns. A string becomes text. The SDK uses a Result, Content
// or []Content unchanged. nil, struct{} and nil pointers become an empty result. Any other value
// becomes one block of JSON. A struct also gives the output schema, unless Spec.OutputSchema is
// set.
//
// # Sessions
//
// Some tools have a different declaration for each session, for example because their schema lists
// the available choices. Such a tool has a function that declares it: see [Tool.Dynamic].
//
// # Unknown outcomes
//
// If the plugin or toolhost ends during a call that has side effects, toolhost does not know
// whether the call happened. A tool that can find out has a check: see [Settle].
//
// # Errors
//
// An error of the function is a tool error: the model reads its text and can act on it. The SDK
// makes paths in the workspace relative to it in that text. An [Error], such as one from
// [Unavailable], is an infrastructure error, which the caller handles and may retry. After the call
// was cancelled or timed out, context errors become errors of kind cancelled or timeout. A panic
// ends the call with an error of kind internal. Its stack is in the log, and the process continues.
// A panic in a preview only ends the previews. The SDKs for Python and TypeScript have the same
// rules for what a tool raises or throws.
//
// # Within a call
//
// These functions read the call from the context: [CallID], [EffectKey], [Attempt], [Session],
// [Workspace], [Traceparent], [Value], [Secret], [Logger], [ReportStatus] and [ReportProgress].
// [Value] and [Secret] return only what the tool's Spec declares in ContextKeys and RequiresAuth.
// If an argument is the handle of an artifact, [OpenArtifact] opens it. [OpenWorkspace] opens the
// call's workspace, and keeps every path inside it. The context has the deadline of the call, and
// ends when the call is cancelled or times out. A tool must stop what it has started then.
//
// # Traces
//
// Spans that a tool creates with [go.opentelemetry.io/otel] are part of the trace of its call.
// Serve sets the global TracerProvider, unless the program has set one, and the context of a
// recorded call contains the call's span. The SDK sends the finished spans to toolhost, which
// exports them, at most 128 for each call. It drops links between spans. A call that is not
// recorded has no span in its context, and its spans cost nothing.
//
// # Filters
//
// A plugin may also have filters, which a toolhost runs before or after calls of any plugin's
// tools, and filters that always run around calls of its own tools: see [Filter].
//
// [go.opentelemetry.io/otel]: https://pkg.go.dev/go.opentelemetry.io/otel
package sdk
