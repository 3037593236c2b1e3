// Command gotest runs `go test -json` with the arguments that it is given and prints what `go test` prints: a line per
// package as it ends, and the whole output of what failed. It adds three things: a sign of life while a package takes
// long, a count at the end, and, where CI is set to true, failure if a test was skipped, because a check that quietly
// does not run is no check.
//
// Its exit code is 0 if all tests passed, else 1.
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

// heartbeat is how long nothing may be printed: short enough that a person does not reach for ctrl-c.
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

// run blocks until `go test` has ended. strict makes a skipped test an error.
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
		// Nobody reads the pipe any more: without this the child would block on it for ever.
		_ = cmd.Process.Kill()
	}
	waitErr := cmd.Wait()
	report.finish()
	return errors.Join(readErr, waitErr, report.verdict(strict))
}

// follow feeds report with the lines of r until r ends. The goroutine that reads ends with r.
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
