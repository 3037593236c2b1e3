// Command bankplugin is a plugin for tests that pays at a bank: the folder of its workspace, where
// each key names at most one file. The first payment of a folder waits for a file "release".
//
// No shipped program imports it.
package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	spec := func(name string, seals bool) sdk.Spec {
		return sdk.Spec{Name: name, Description: "Pays.", Seals: seals, Timeout: time.Hour}
	}
	sdk.Serve(sdk.Plugin{Name: "bankplugin", Version: "1.0.0", Description: "Pays, for tests.", Tools: []sdk.Tool{
		sdk.Settle(sdk.Func(spec("pay_sealed", true), pay), seal),
		sdk.Settle(sdk.Func(spec("pay_plain", false), pay), look),
	}})
}

type nothing struct{}

// enter makes the file of a key, or fails with fs.ErrExist.
func enter(ctx context.Context, key, text string) error {
	file, err := os.OpenFile(filepath.Join(sdk.Workspace(ctx), key), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func pay(ctx context.Context, _ nothing) (string, error) {
	for first := enter(ctx, "first", "") == nil; first; {
		if _, err := os.Stat(filepath.Join(sdk.Workspace(ctx), "release")); err == nil {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if err := enter(ctx, sdk.EffectKey(ctx)+".key", "paid"); err != nil {
		_ = enter(ctx, "refused", err.Error()) // the test looks for it
		return "", err
	}
	return "paid", nil
}

func seal(ctx context.Context, _ nothing) (sdk.Settlement, error) {
	err := enter(ctx, sdk.EffectKey(ctx)+".key", "sealed")
	if err == nil {
		return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen}, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return sdk.Settlement{}, err
	}
	text, err := os.ReadFile(filepath.Join(sdk.Workspace(ctx), sdk.EffectKey(ctx)+".key"))
	switch {
	case err != nil:
		return sdk.Settlement{}, err
	case string(text) == "paid":
		return sdk.Happened("paid"), nil
	default:
		return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen}, nil
	}
}

func look(ctx context.Context, _ nothing) (sdk.Settlement, error) {
	if _, err := os.Stat(filepath.Join(sdk.Workspace(ctx), sdk.EffectKey(ctx)+".key")); err != nil {
		return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen}, nil
	}
	return sdk.Happened("paid"), nil
}
