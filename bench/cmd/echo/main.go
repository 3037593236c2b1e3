// Command echo is the benchmark's tool as a plugin for toolhost.
package main

import (
	"context"

	"github.com/toolhost/toolhost/bench/internal/work"
	"github.com/toolhost/toolhost/sdk"
)

func main() {
	sdk.Serve(sdk.Plugin{Name: "echo", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "echo", Description: "Answers with a text of the size asked for.", ReadOnly: true},
			func(_ context.Context, in work.Request) (string, error) { return in.Answer(), nil }),
	}})
}
