// Command crash is a plugin with a tool that ends its process.
package main

import (
	"context"
	"os"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	sdk.Serve(sdk.Plugin{Name: "crash", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "crash", Description: "Ends its process.", ReadOnly: true},
			func(context.Context, struct{}) (string, error) { os.Exit(3); return "", nil }),
	}})
}
