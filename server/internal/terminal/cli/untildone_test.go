package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// A server that was told to end does not wait for a reader of its last words, and writes them if
// there is one.
func TestLastWordsThatNoProcessReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		unread, full := io.Pipe()
		defer unread.Close() // ends the goroutine that writes
		ended := make(chan int)
		cmd := &cobra.Command{Use: "prog", RunE: func(*cobra.Command, []string) error { return errors.New("the disk is full") }}
		go func() { ended <- cli.Run(ctx, cmd, cli.Process{Stdout: full, Stderr: full}) }() // ends with ctx
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("the program ended before a process read its last words")
		default:
		}
		cancel()
		if code := <-ended; code != cli.ExitInfrastructure {
			t.Errorf("exit code %d", code)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var read bytes.Buffer
	if n, err := cli.UntilDone(ctx, &read).Write([]byte("good bye")); n != 8 || err != nil || read.String() != "good bye" {
		t.Errorf("%d bytes, %v: %q", n, err, read.String())
	}
}
