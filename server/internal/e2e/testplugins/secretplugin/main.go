// Command secretplugin is a plugin for tests of redaction. It writes the secret that it received to
// every place that it can reach, in many forms.
//
// The tests check where the secret appears. No shipped program imports it.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

// key is the name of the secret.
const key = "LEAKY_KEY"

type input struct {
	Way string `json:"way" jsonschema:"where to show the secret"`
}

func main() {
	sdk.Serve(sdk.Plugin{Name: "secretplugin", Version: "1.0.0", Description: "Shows secrets, for tests.", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "leak", Description: "Shows its secret.", RequiresAuth: []string{key}, EffectKeys: []string{"key"}}, leak),
		sdk.Func(sdk.Spec{Name: "needy", Description: "Needs more than there is.", RequiresAuth: []string{key, "NOT_GRANTED", "NOT_THERE"}}, leak),
		sdk.Func(sdk.Spec{Name: "stranger", Description: "Declares no secret."}, stranger),
	}})
}

// stranger is a tool that declares no secret. It returns the secret that it sees, if any, and its
// environment.
func stranger(ctx context.Context, _ struct{}) (string, error) {
	value, found := sdk.Secret(ctx, key)
	return fmt.Sprintf("secret %q (%v), environment %q", value, found, os.Environ()), nil
}

// leak returns the secret in the form that the input names, such as base64. If the form is unknown,
// the error lists the valid forms.
func leak(ctx context.Context, in input) (sdk.Result, error) {
	secret, found := sdk.Secret(ctx, key)
	if !found {
		return sdk.Result{}, sdk.Internal("there is no secret")
	}
	all := strings.Join(forms(secret), " and ")
	switch in.Way {
	case "length":
		return text(fmt.Sprintf("the secret has %d bytes", len(secret))), nil
	case "status":
		sdk.ReportStatus(ctx, sdk.Status{Message: "message " + all, Parameters: asJSON(map[string]string{"key " + secret: all}), Result: asJSON([]string{all})})
		sdk.ReportProgress(ctx, 1, 2, "progress "+all)
		return text("done"), nil
	case "log":
		sdk.Logger(ctx).Error("logged "+all, "attribute", all, "nested", map[string]string{secret: all})
		return text("done"), nil
	case "stderr":
		return text("done"), printAll(os.Stderr, secret, all)
	case "stdout":
		return text("done"), printAll(os.Stdout, secret, all)
	case "error":
		return sdk.Result{}, fmt.Errorf("the service said no to %s", all)
	case "failure":
		return sdk.Result{}, sdk.Unavailable("no service for %s", all)
	case "panic":
		panic("panicked with " + all)
	case "crash":
		go func() { panic("crashed with " + all) }()
		select {}
	case "exit":
		fmt.Fprintln(os.Stderr, "last words: "+all)
		os.Exit(3)
	}
	if result, ok := results(in.Way, secret, all); ok {
		return result, nil
	}
	return sdk.Result{}, fmt.Errorf("there is no way %q", in.Way)
}
