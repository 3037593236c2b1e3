// Package sdk turns Go functions into tools of a toolhost plugin. It is all that a tool's author imports.
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
// The input schema comes from the struct. A field is required unless its json tag says omitempty or omitzero, or it has
// a default. Properties that no struct declares are refused, at every depth. These struct tags say more:
//
//	jsonschema            what the field means, for the model
//	default               the value where there is none: JSON, or plain text for a string
//	enum, examples        values, separated by commas, or a JSON array
//	minimum, maximum      bounds of a number
//	minLength, maxLength  bounds of a text, in characters
//	pattern, format       a regular expression; a JSON Schema format
//	minItems, maxItems    bounds of a list
//
// On a list or map, enum, minimum, maximum, minLength, maxLength, pattern and format speak of its elements. A pointer
// may be null. time.Time is an RFC 3339 text, []byte is base64, json.RawMessage and any are any JSON, and a type with a
// MarshalText method is text. Spec.InputSchema, if set, takes the place of all this. The function's input may also be
// json.RawMessage or a map, for arguments as they come.
//
// A tool is called with arguments that fit its schema, with defaults filled in. Others never reach it: the model is told
// what is wrong.
//
// # Results
//
// What the function returns is what the model reads: a string as text; a Result, Content or []Content as it is; nil,
// struct{} and nil pointers as nothing; anything else as one block of JSON. A struct also gives the output schema, unless Spec.OutputSchema is
// set.
//
// # Sessions
//
// A tool that looks different to each session, because its schema lists what there is to choose from, for example, has a
// function that describes it: see [Tool.Dynamic].
//
// # Errors
//
// An error is a tool error: the model reads its text and can act on it. Paths in the workspace become relative to it in
// that text. An [Error], such as one from [Unavailable], says that the machinery failed, which the caller handles and may
// try again. Context errors after the call was cancelled or ran out of time are cancelled or timeout. A panic ends the call
// as internal, with its stack in the log; the process goes on. A panic in a preview ends the previews alone. The SDKs of
// Python and TypeScript have the same rules: what a tool raises or throws is an error.
//
// # Within a call
//
// The context knows the call: see [CallID], [Attempt], [Session], [Workspace], [Traceparent], [Value], [Secret], [Logger],
// [ReportStatus] and [ReportProgress]. Of the run's context and the operator's secrets, it knows what the tool's Spec
// declares in ContextKeys and RequiresAuth, and nothing else. Its deadline is the call's. Where an argument is the handle of an artifact, because what another tool answered was too large to be
// shown, [OpenArtifact] reads it. [OpenWorkspace] opens the call's workspace as an interface that keeps every name within it. The context ends when the call is cancelled or out of time; a tool that starts something must end with it.
//
// # Filters
//
// A plugin may also ship filters, which a toolhost asks before or after calls of any plugin's tools: see [Filter].
package sdk
