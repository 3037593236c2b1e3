// Command terminalplugin is a plugin for tests that writes terminal control sequences to every
// place that it can reach.
//
// The tests check what reaches a terminal. No shipped program imports it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/toolhost/toolhost/sdk"
)

type input struct {
	Place string `json:"place" jsonschema:"where to write"`
	Words string `json:"words" jsonschema:"what to write"`
}

// described returns the text for the plugin's declaration. It comes from a file beside the
// executable, because toolhost reads the declaration before a test can make a call.
func described() string {
	words, err := os.ReadFile(os.Args[0] + ".words")
	if err != nil {
		return "Nothing was given."
	}
	return string(words)
}

func main() {
	words := described()
	sdk.Serve(sdk.Plugin{Name: "terminalplugin", Version: "1.0.0", Description: words, Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "terminalplugin", DisplayName: words, Description: words}, write),
		sdk.Func(sdk.Spec{Name: "terminalplugin_danger", DisplayName: words, Description: words, Dangerous: true}, danger),
	}})
}

func danger(_ context.Context, in map[string]any) (string, error) {
	return fmt.Sprint("made with ", in), nil
}

func write(ctx context.Context, in input) (sdk.Result, error) {
	asJSON, err := json.Marshal(map[string]string{in.Words: in.Words})
	if err != nil {
		return sdk.Result{}, err
	}
	switch in.Place {
	case "text":
		return sdk.TextResult(in.Words), nil
	case "structured":
		return sdk.Result{Content: []sdk.Content{sdk.JSON(asJSON)}}, nil
	case "file":
		return sdk.Result{Content: []sdk.Content{sdk.File(in.Words, "text/plain", []byte(in.Words))}}, nil
	case "error":
		return sdk.Result{}, errors.New(in.Words)
	case "failure":
		return sdk.Result{}, sdk.Unavailable("%s", in.Words)
	case "status":
		sdk.ReportStatus(ctx, sdk.Status{Message: in.Words, Parameters: asJSON})
		sdk.ReportProgress(ctx, 1, 2, in.Words)
	case "log":
		sdk.Logger(ctx).Error(in.Words, "attribute", in.Words)
	case "stderr":
		fmt.Fprintln(os.Stderr, in.Words)
	case "crash":
		go func() { panic(in.Words[:1000]) }()
		select {}
	}
	return sdk.TextResult("done"), nil
}
