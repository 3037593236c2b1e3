package serve

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/subreaper"
)

// WithSubreapers runs serve. The processes of plugins must be found after toolhost's end. If
// neither control groups nor PID namespaces can find them, WithSubreapers starts this program again
// below two subreapers, and that process runs serve.
func WithSubreapers(ctx context.Context, p cli.Process, serve func() error) error {
	_, isFile := p.Stdout.(*os.File) // the output is no file only in tests
	switch {
	case !isFile, !subreaper.Supported():
		return serve()
	case subreaper.Served(p.Getenv):
		return subreaper.Serve(isReaper, serve)
	case !subreaper.Inner(p.Getenv) && findsDescendants():
		return serve()
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting the process that serves: %w", err)
	}
	code, err := subreaper.Run(ctx, subreaper.Config{
		Command: append([]string{self}, p.Args...), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Spares: isReaper,
	})
	if err == nil && code != cli.ExitOK {
		return &cli.ExitError{Code: code}
	}
	return err
}

// findsDescendants reports whether control groups or PID namespaces find all processes that plugins
// start.
func findsDescendants() bool {
	groups := limits.OpenCgroups()
	defer groups.Close()
	return groups.FindsAll() || process.Namespaces()
}

// isReaper reports whether a process is this program as a reaper. Such a process may remain,
// because a reaper ends by itself. A process that only looks like a reaper can do no more than a
// reaper does.
func isReaper(pid int) bool {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	program, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || !os.SameFile(self, program) {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := bytes.Split(bytes.TrimSuffix(line, []byte{0}), []byte{0})
	return err == nil && len(args) == 2 && string(args[1]) == reaperCommand
}
