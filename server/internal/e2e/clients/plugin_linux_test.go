//go:build clients

package clients

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/sdk"
)

// pluginName is the plugin of the tests, and the name of the test program that serves it.
const pluginName = "kinds"

// given are the results of the tool give.
var given = map[string][]sdk.Content{
	"text":            {sdk.Text("a pelican and 7319 herons")},
	"number":          {sdk.JSON(json.RawMessage("6227020800"))},
	"object":          {sdk.JSON(json.RawMessage(`{"bird":"ibis","legs":2}`))},
	"list":            {sdk.JSON(json.RawMessage(`[{"bird":"stork"},{"bird":"crane"}]`))},
	"object and text": {sdk.JSON(json.RawMessage(`{"exit_code":86}`)), sdk.Text("stdout: the bittern booms")},
	"list and text":   {sdk.JSON(json.RawMessage(`[5040,40320]`)), sdk.Text("and the egret")},
}

// servePlugin is the main function of the plugin.
func servePlugin() {
	ended := make(chan struct{}, 1)
	sdk.Serve(sdk.Plugin{Name: pluginName, Version: "1.0.0", Description: "Results of all kinds.", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "give", Description: "Gives a result of a kind.", ReadOnly: true}, func(_ context.Context, in struct {
			Kind string `json:"kind" jsonschema:"the kind"`
		}) (sdk.Result, error) {
			return sdk.Result{Content: given[in.Kind]}, nil
		}),
		sdk.Func(sdk.Spec{Name: "launch", Description: "Launches a rocket.", Dangerous: true}, func(_ context.Context, in struct {
			Rocket string `json:"rocket" jsonschema:"its name"`
		}) (string, error) {
			return fmt.Sprintf("%s flies at %d", in.Rocket, 28_000-3), nil
		}),
		sdk.Func(sdk.Spec{Name: "linger", Description: "Ends when it is canceled.", ReadOnly: true}, func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			ended <- struct{}{}
			return "", ctx.Err()
		}),
		sdk.Func(sdk.Spec{Name: "canceled", Description: "Waits for the end of linger.", ReadOnly: true}, func(ctx context.Context, _ struct{}) (string, error) {
			select {
			case <-ended:
				return "the heron left", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}),
	}})
}
