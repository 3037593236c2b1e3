// The plugin dynamicplugin has a tool with another definition in each session. Its options come
// from the context value "options" of the session; without that value, the only option is the name
// of the session. A second tool returns the trace in which it is called.
package main

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/sdk"
)

type choice struct {
	Option string `json:"option"`
}

func choose(_ context.Context, in choice) (string, error) { return "chosen: " + in.Option, nil }

func describe(ctx context.Context) (sdk.Variant, error) {
	options, found, err := sdk.Value[[]string](ctx, "options")
	if err != nil {
		return sdk.Variant{}, err
	}
	if !found {
		options = []string{sdk.Session(ctx)}
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]any{"option": map[string]any{"enum": options}}, "required": []string{"option"},
	})
	return sdk.Variant{Description: "Chooses for " + sdk.Session(ctx) + ".", InputSchema: schema}, err
}

func whence(ctx context.Context, _ struct{}) (string, error) { return sdk.Traceparent(ctx), nil }

func main() {
	spec := sdk.Spec{Name: "choose", Description: "Chooses.", ReadOnly: true, ContextKeys: []string{"options"}}
	sdk.Serve(sdk.Plugin{Name: "dynamicplugin", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(spec, choose).Dynamic(describe),
		sdk.Func(sdk.Spec{Name: "whence", Description: "Tells in which trace it is called.", ReadOnly: true}, whence),
	}})
}
