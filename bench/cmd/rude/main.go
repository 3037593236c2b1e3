// Command rude is a plugin with a tool that never answers.
package main

import (
	"context"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	sdk.Serve(sdk.Plugin{Name: "rude", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "hang", Description: "Never answers, and ignores its cancellation.", ReadOnly: true},
			func(context.Context, struct{}) (string, error) { select {} }),
	}})
}
