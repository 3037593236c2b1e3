//go:build linux

// Command escapeplugin is a plugin for tests of the sandbox. Its only tool tries to get out of the
// sandbox: it does what the arguments say and returns the result.
//
// The tests decide what to try and whether the result was an escape. The tests also supply the
// numbers of system calls, so the plugin contains no knowledge of the kernel. No shipped program
// imports it.
package main

import (
	"context"
	"os"

	"github.com/toolhost/toolhost/sdk"
)

// input is one attempt.
type input struct {
	Do   string   `json:"do" jsonschema:"what to try"`
	With []string `json:"with,omitempty" jsonschema:"with what"`
}

// output is the attempt's result.
type output struct {
	Answer string `json:"answer"`
	Error  string `json:"error,omitempty"`
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == stayArgument {
		stay(os.Args[2])
		return
	}
	name := "escapeplugin"
	if len(os.Args) > 1 {
		name = os.Args[1] // the tests install this program under several names
	}
	sdk.Serve(sdk.Plugin{Name: name, Version: "1.0.0", Description: "Tries to get out, for tests.", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: name, Description: "Tries something."}, attempt),
	}})
}

func attempt(ctx context.Context, in input) (output, error) {
	answer, err := try(ctx, in.Do, in.With)
	out := output{Answer: answer}
	if err != nil {
		out.Error = err.Error()
	}
	return out, nil
}
