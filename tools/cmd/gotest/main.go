// Command gotest runs `go test -json` with its arguments and prints what `go test` prints: a line
// for each package that ends, and the whole output of each test that fails. It adds three things:
// the name of the test that runs longest while nothing else happens, the number of passed, failed
// and skipped tests at the end, and, if CI is true, failure if a test was skipped.
//
// Its exit code is 0 if all tests passed, else 1.
//
// gotestsum v1.13.0 cannot replace it. gotestsum prints a test only when the test ends, in each of
// its formats, so that a hanging test has no name until its package times out. It has no option
// that fails a run with skipped tests. A script in --post-run-command could do so, but not the
// first part.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// heartbeat bounds the time without output: a person waits this long before pressing Ctrl-C.
const heartbeat = 20 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	strict, _ := strconv.ParseBool(os.Getenv("CI"))
	if err := run(ctx, os.Args[1:], strict, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

// run blocks until `go test` ends. strict makes a skipped test an error.
func run(ctx context.Context, args []string, strict bool, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("connecting to go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting go test: %w", err)
	}
	report := newReport(stdout)
	readErr := follow(events, report)
	if readErr != nil {
		// Without a reader of the pipe, the child would block forever.
		_ = cmd.Process.Kill()
	}
	waitErr := cmd.Wait()
	report.finish()
	return errors.Join(readErr, waitErr, report.verdict(strict))
}

// follow passes the events in r to report until r ends. Its goroutine ends with r.
func follow(r io.Reader, report *report) error {
	lines := make(chan line)
	go func() {
		defer close(lines)
		scan(r, lines)
	}()
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				return nil
			}
			if l.err != nil {
				return fmt.Errorf("reading the output of go test: %w", l.err)
			}
			if report.add(l.event) {
				ticker.Reset(heartbeat)
			}
		case now := <-ticker.C:
			report.alive(now)
		}
	}
}
