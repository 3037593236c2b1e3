// Command askplugin is a plugin for tests. Its tools ask a person or a model, with a text that the
// caller chooses.
//
// No shipped program imports it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/toolhost/toolhost/sdk"
)

type input struct {
	Message string `json:"message" jsonschema:"what to ask"`
	// File counts the executions, one line each.
	File string `json:"file,omitempty" jsonschema:"where to note the call"`
}

// choice is what a person fills in.
type choice struct {
	Color string `json:"color" jsonschema:"which color"`
	Count int    `json:"count" jsonschema:"how many"`
}

func main() {
	sdk.Serve(sdk.Plugin{Name: "askplugin", Version: "1.0.0", Description: "Asks, for tests.", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "ask_person", Description: "Asks a person.", ReadOnly: true}, askPerson),
		sdk.Func(sdk.Spec{Name: "ask_model", Description: "Asks a model.", ReadOnly: true}, askModel),
	}})
}

func note(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, os.Getpid())
	return err
}

func askPerson(ctx context.Context, in input) (string, error) {
	if err := note(in.File); err != nil {
		return "", err
	}
	answer, err := sdk.Ask[choice](ctx, in.Message, 0)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(answer)
	return "the person chose " + string(text), err
}

func askModel(ctx context.Context, in input) (string, error) {
	if err := note(in.File); err != nil {
		return "", err
	}
	answer, err := sdk.Complete(ctx, sdk.ModelQuestion{Messages: []sdk.ModelMessage{sdk.UserText(in.Message)}, MaxTokens: 100})
	if err != nil {
		return "", err
	}
	return "the model said: " + answer.Text(), nil
}
