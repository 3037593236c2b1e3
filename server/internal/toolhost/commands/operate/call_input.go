package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxStdin bounds the arguments that the command reads from standard input. toolhost accepts no
	// more.
	maxStdin = 16 << 20
	// stdinPatience is the time in which the first byte of the arguments must arrive if the user
	// did not announce them with "-". A CI system or ssh can leave a pipe open that never ends, so
	// the command cannot wait for the end of the pipe. After that time the command fails. A call
	// without arguments would be wrong if a slow program was about to write some.
	stdinPatience = 10 * time.Second
)

// readArguments returns the arguments on standard input. If patience is not 0, it fails unless the
// first byte arrives within that time.
func readArguments(ctx context.Context, stdin io.Reader, patience time.Duration) (json.RawMessage, error) {
	begun, ended := make(chan struct{}), make(chan []byte, 1)
	var failed error
	// ends with the input; no one can cancel a read of a terminal or pipe, and the process ends
	// soon
	go func() {
		first := make([]byte, 1)
		n, err := io.ReadFull(stdin, first)
		close(begun)
		if err != nil {
			ended <- nil
			return
		}
		rest, err := io.ReadAll(io.LimitReader(stdin, maxStdin))
		failed = err
		ended <- append(first[:n], rest...)
	}()
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-begun:
			begun, late = nil, nil
		case data := <-ended:
			switch {
			case failed != nil:
				return nil, fmt.Errorf("reading the arguments from standard input: %w", failed)
			case len(data) > maxStdin:
				return nil, cli.Usage("the arguments on standard input have more than %d bytes", maxStdin)
			}
			return data, nil
		case <-late:
			return nil, cli.Usage("standard input is open, but no arguments came from it in %s; write '{}' for none, or - to wait for as long as it takes", patience)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// pipedArguments returns the arguments of a call without arguments on the command line. It reads
// standard input unless that is a terminal or the tool takes no arguments. It returns nil if there
// are none.
func pipedArguments(ctx context.Context, c *client.Client, call tool.Call, stdin io.Reader) (json.RawMessage, error) {
	if cli.IsTerminal(stdin) {
		return nil, nil
	}
	info, err := c.GetTool(ctx, call.Tool, tool.Viewer{Session: call.Session, Context: call.Context})
	if err != nil || !takesArguments(info.Spec.InputSchema) {
		return nil, nil //nolint:nilerr // the call itself says what is wrong
	}
	data, err := readArguments(ctx, stdin, stdinPatience)
	if strings.TrimSpace(string(data)) == "" {
		return nil, err
	}
	return data, err
}

// takesArguments reports whether a schema allows any argument.
func takesArguments(schema json.RawMessage) bool {
	var s struct {
		Properties           map[string]json.RawMessage `json:"properties"`
		AdditionalProperties *bool                      `json:"additionalProperties"`
	}
	if len(schema) == 0 {
		return false
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return true
	}
	return len(s.Properties) > 0 || s.AdditionalProperties == nil || *s.AdditionalProperties
}
