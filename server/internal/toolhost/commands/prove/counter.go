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
	effects = "effects" // one file for each execution that had its effect: SESSION~CALL~RECEIPT, or a place
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

// counter returns the plugin. Its tools differ only in the check. folder is where its files are,
// wherever its toolhost has its workspace; empty: in the workspace.
func counter(folder string) sdk.Plugin {
	in := func(ctx context.Context) string { return cmp.Or(folder, sdk.Workspace(ctx)) }
	counts := func(happen func(ctx context.Context, folder, draft, effect string) error) func(context.Context, input) (string, error) {
		return func(ctx context.Context, job input) (string, error) { return count(ctx, in(ctx), job, happen) }
	}
	checks := func(check func(ctx context.Context, folder string) (sdk.Settlement, error)) func(context.Context, input) (sdk.Settlement, error) {
		return func(ctx context.Context, _ input) (sdk.Settlement, error) { return check(ctx, in(ctx)) }
	}
	spec := func(name countTool) sdk.Spec {
		return sdk.Spec{Name: string(name), Description: "Leaves a receipt, once for each execution.", Timeout: 5 * time.Minute, Seals: name == sealed}
	}
	return sdk.Plugin{Name: pluginName, Version: "1", Tools: []sdk.Tool{
		sdk.Func(spec(unchecked), counts(rename)),
		sdk.Settle(sdk.Func(spec(checked), counts(rename)), checks(settle)),
		sdk.Settle(sdk.Func(spec(sealed), counts(occupy)), checks(seal)),
	}}
}

// count has an effect, and returns the receipt of this execution. happen makes the draft of the
// effect an effect, in one step, so that it happens whole or not at all.
func count(ctx context.Context, folder string, in input, happen func(ctx context.Context, folder, draft, effect string) error) (string, error) {
	receipt := rand.Text()
	name := strings.Join([]string{sdk.Session(ctx), sdk.CallID(ctx), receipt}, separator)
	draft := filepath.Join(folder, drafts, name)
	steps := map[place]func() error{
		before: func() error { return os.WriteFile(draft, []byte(receipt), 0o600) },
		during: func() error { return happen(ctx, folder, draft, filepath.Join(folder, effects, name)) },
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

func rename(_ context.Context, _, draft, effect string) error { return os.Rename(draft, effect) }

// errSealed is the end of an execution that a check has sealed before its effect.
var errSealed = errors.New("a check has said that this execution has no effect")

// occupy is the effect of the tool whose check seals: the draft gets the place of this execution. A
// place that the check has taken is empty. If there is an effect already, toolhost has executed
// twice under one key: a service would refuse that, and here it counts.
func occupy(ctx context.Context, folder, draft, effect string) error {
	place := placeOf(ctx, folder)
	err := os.Link(draft, place)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	switch taken, err := os.ReadFile(place); {
	case err != nil:
		return err
	case len(taken) == 0:
		return errSealed
	}
	return os.Rename(draft, effect)
}

// placeOf returns the file of this execution among the effects, which has its receipt, or nothing
// if the execution is sealed.
func placeOf(ctx context.Context, folder string) string {
	return filepath.Join(folder, effects, strings.Join([]string{sdk.Session(ctx), sdk.CallID(ctx), sdk.EffectKey(ctx), "place"}, separator))
}

// seal takes the place of an execution, or says what happened there.
func seal(ctx context.Context, folder string) (sdk.Settlement, error) {
	place := placeOf(ctx, folder)
	taken, err := os.OpenFile(place, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case err == nil:
		err = taken.Close()
	case errors.Is(err, fs.ErrExist):
		var receipt []byte
		if receipt, err = os.ReadFile(place); len(receipt) > 0 {
			return sdk.Settlement{Verdict: sdk.VerdictHappened, Result: new(sdk.TextResult(string(receipt)))}, nil
		}
	}
	if err != nil {
		return sdk.Settlement{}, err
	}
	return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen, Reason: "the place of the execution is sealed"}, nil
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
