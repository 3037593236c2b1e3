package commands

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// An interrupt ends the reading of a pipe that no process opens or writes.
func TestInterruptedInput(t *testing.T) {
	release := make(chan struct{})
	pipe, end := io.Pipe()
	for name, open := range map[string]func() (io.ReadCloser, error){
		"no writer": func() (io.ReadCloser, error) { <-release; return nil, os.ErrClosed },
		"silent":    func() (io.ReadCloser, error) { return pipe, nil },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		entered := make(chan struct{})
		go func() { // ends with the test
			<-entered
			cancel()
		}()
		data, err := readInput(ctx, func() (io.ReadCloser, error) { close(entered); return open() }, 10)
		if data != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: read %q, %v", name, data, err)
		}
	}
	close(release)
	_ = end.Close() // ends the goroutine that reads the pipe
}

// What never ends is read up to its bound.
func TestInputsAreBounded(t *testing.T) {
	p := cli.Process{Stdin: endlessInput{}, Getenv: func(string) string { return "" }}
	if _, err := readAttachments(t.Context(), p, []string{"-"}); err == nil || !strings.Contains(err.Error(), "has more than 10.0 MiB") {
		t.Errorf("attaching standard input: %v", err)
	}
	large := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(large, []byte(strings.Repeat(" ", 1<<20)+"{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSchema(t.Context(), large); err == nil || !strings.Contains(err.Error(), "has more than 1.0 MiB, which is no schema") {
		t.Errorf("reading a schema: %v", err)
	}
}

type endlessInput struct{}

func (endlessInput) Read(p []byte) (int, error) { return len(p), nil }
