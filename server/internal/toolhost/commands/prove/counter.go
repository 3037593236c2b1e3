package prove

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/sdk"
)

const (
	// counterCommand is the hidden command with which this program is the plugin that counts.
	counterCommand = "prove-counter"
	// pause is the time between two steps of a call, so that kills at random moments hit each of them.
	pause = 10 * time.Millisecond
	// poll is how often the plugin and the command look for a file of the other one.
	poll = 5 * time.Millisecond
)

// The folders in the workspace, or in the folder that the plugin was given.
const (
	drafts  = "drafts"  // effects that have not happened yet
	effects = "effects" // one file for each execution that had its effect: SESSION~CALL~RECEIPT
	halted  = "halted"  // SESSION: a call of the session has halted at its place
	freed   = "freed"   // SESSION: a call that has halted goes on
)

// separator is between the parts of the name of an effect. Session and call ids of this command do
// not contain it.
const separator = "~"

// NewCounterCommand returns the hidden command that serves the plugin.
func NewCounterCommand() *cobra.Command {
	return &cobra.Command{
		Use: counterCommand, Short: "Serve the plugin of `prove`; toolhost starts it", Args: cobra.MaximumNArgs(1), Hidden: true,
		Run: func(_ *cobra.Command, args []string) { sdk.Serve(counter(strings.Join(args, ""))) },
	}
}

type input struct {
	Job string `json:"job" jsonschema:"the place where the first execution of the session halts, and the name of the call"`
}

// counter returns the plugin. Its two tools differ only in the check. folder is where its files
// are, wherever its toolhost has its workspace; empty: in the workspace.
func counter(folder string) sdk.Plugin {
	in := func(ctx context.Context) string { return cmp.Or(folder, sdk.Workspace(ctx)) }
	count := func(ctx context.Context, job input) (string, error) { return count(ctx, in(ctx), job) }
	settle := func(ctx context.Context, _ input) (sdk.Settlement, error) { return settle(ctx, in(ctx)) }
	spec := func(name string) sdk.Spec {
		return sdk.Spec{Name: name, Description: "Leaves a receipt, once for each execution.", Timeout: 5 * time.Minute}
	}
	return sdk.Plugin{Name: pluginName, Version: "1", Tools: []sdk.Tool{
		sdk.Func(spec(string(unchecked)), count),
		sdk.Settle(sdk.Func(spec(string(checked)), count), settle),
	}}
}

// count has an effect, and returns the receipt of this execution. The effect is one rename, so that
// it happens whole or not at all.
func count(ctx context.Context, folder string, in input) (string, error) {
	receipt := rand.Text()
	name := strings.Join([]string{sdk.Session(ctx), sdk.CallID(ctx), receipt}, separator)
	draft := filepath.Join(folder, drafts, name)
	steps := map[place]func() error{
		before: func() error { return os.WriteFile(draft, nil, 0o600) },
		during: func() error { return os.Rename(draft, filepath.Join(folder, effects, name)) },
		after:  func() error { return nil },
	}
	for _, at := range boundaries {
		if err := halt(ctx, folder, at, in.Job); err != nil {
			return "", err
		}
		if err := steps[at](); err != nil {
			return "", err
		}
	}
	return receipt, nil
}

// halt waits for a moment, or, if it is the first execution of the session that is at the place of
// its job, until the command lets it go on.
func halt(ctx context.Context, folder string, at place, job string) error {
	time.Sleep(pause)
	if where, _, _ := strings.Cut(job, " "); place(where) != at {
		return nil
	}
	mark, err := os.OpenFile(filepath.Join(folder, halted, sdk.Session(ctx)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_ = mark.Close() // nothing was written
	return await(ctx, filepath.Join(folder, freed, sdk.Session(ctx)))
}

// settle looks for the effect of a call.
func settle(ctx context.Context, folder string) (sdk.Settlement, error) {
	prefix := strings.Join([]string{sdk.Session(ctx), sdk.CallID(ctx), ""}, separator)
	found, err := os.ReadDir(filepath.Join(folder, effects))
	if err != nil {
		return sdk.Settlement{}, err
	}
	for _, file := range found {
		if receipt, its := strings.CutPrefix(file.Name(), prefix); its {
			return sdk.Settlement{Verdict: sdk.VerdictHappened, Result: new(sdk.TextResult(receipt))}, nil
		}
	}
	return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen, Reason: "there is no receipt of the call"}, nil
}

// await waits until a file exists.
func await(ctx context.Context, path string) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
