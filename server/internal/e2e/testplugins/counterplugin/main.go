// Command counterplugin is a plugin for tests that counts executions. Each execution of a tool
// writes a line with the call id, which is its idempotency key, into a file of the workspace. The
// name of the file is the session. Results depend only on the arguments, so that tests can compare
// two runs, and no caller can guess them.
//
// The tests decide what the lines must contain. No shipped program imports it.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

const (
	// slow is how long a call of counterplugin_slow takes after its side effect, so that other
	// calls of its turn end meanwhile.
	slow = 150 * time.Millisecond
	// stalled is the timeout of a tool that never ends by itself. It is long enough for the tool to
	// begin, except on a very busy machine.
	stalled = 400 * time.Millisecond
)

func main() {
	sdk.Serve(sdk.Plugin{
		Name: "counterplugin", Version: "1", Description: "Keeps count of its calls.",
		Tools: []sdk.Tool{
			sdk.Func(sdk.Spec{Name: "counterplugin_read", Description: "Tells what stands under a key.", ReadOnly: true}, count),
			sdk.Func(sdk.Spec{Name: "counterplugin_write", Description: "Writes."}, count),
			sdk.Func(sdk.Spec{Name: "counterplugin_serial", Description: "Writes, and never beside another.", Serial: true}, count),
			sdk.Func(sdk.Spec{Name: "counterplugin_drop", Description: "Drops what stands under a key.", Dangerous: true}, count),
			sdk.Func(sdk.Spec{Name: "counterplugin_slow", Description: "Writes, and takes its time."}, countSlowly),
			sdk.Func(sdk.Spec{Name: "counterplugin_fail", Description: "Writes, and fails."}, countAndFail),
			sdk.Func(sdk.Spec{Name: "counterplugin_stall", Description: "Writes, and never ends.", Timeout: stalled}, countAndStall),
			sdk.Func(sdk.Spec{Name: "counterplugin_hang", Description: "Writes, and goes on until it is stopped."}, countAndStall),
		},
	})
}

type entry struct {
	Key string `json:"key" jsonschema:"what it is about"`
}

// count writes the line, and returns a value that no caller could guess.
func count(ctx context.Context, in entry) (string, error) {
	file, err := os.OpenFile(filepath.Join(sdk.Workspace(ctx), sdk.Session(ctx)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", sdk.Internal("counting: %w", err)
	}
	_, err = file.WriteString(sdk.CallID(ctx) + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return "", sdk.Internal("counting: %w", err)
	}
	return fmt.Sprintf("%s: %x", in.Key, sha256.Sum256([]byte("tally/"+in.Key)))[:len(in.Key)+14], nil
}

func countSlowly(ctx context.Context, in entry) (string, error) {
	answer, err := count(ctx, in)
	if err != nil {
		return "", err
	}
	select {
	case <-time.After(slow):
		return answer, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func countAndFail(ctx context.Context, in entry) (string, error) {
	answer, err := count(ctx, in)
	if err != nil {
		return "", err
	}
	return "", fmt.Errorf("this always fails: %s", answer)
}

func countAndStall(ctx context.Context, in entry) (string, error) {
	if _, err := count(ctx, in); err != nil {
		return "", err
	}
	<-ctx.Done()
	return "", ctx.Err()
}
