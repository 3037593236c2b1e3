// The plugin contextplugin has two tools that return the memory files in the context of their call,
// as JSON. Only the first one declares the key.
package main

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/sdk"
)

func recall(ctx context.Context, _ struct{}) (string, error) {
	files, found, err := sdk.Value[json.RawMessage](ctx, "memory_files")
	if !found || err != nil {
		return "nothing", err
	}
	return string(files), nil
}

func main() {
	sdk.Serve(sdk.Plugin{Name: "contextplugin", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "told", Description: "Tells what it knows.", ReadOnly: true, ContextKeys: []string{"memory_files"}}, recall),
		sdk.Func(sdk.Spec{Name: "untold", Description: "Tells what it knows.", ReadOnly: true}, recall),
	}})
}
