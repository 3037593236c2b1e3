package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/subreaper"
)

// needsKeepers reports whether this process is to keep another one, which serves: plugins are found after its end neither
// by control groups nor by PID namespaces. A program that does not write to files of its own is a test.
func needsKeepers(p cli.Process) bool {
	_, own := p.Stdout.(*os.File)
	switch {
	case !own, !subreaper.Supported(), subreaper.Kept(p.Getenv):
		return false
	case subreaper.Inner(p.Getenv):
		return true
	}
	groups := limits.OpenCgroups()
	defer groups.Close()
	return !groups.FindsAll() && !process.Namespaces()
}

// keep runs this program once more, below keepers, until it ends.
func keep(ctx context.Context, p cli.Process) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting what serves: %w", err)
	}
	code, err := subreaper.Run(ctx, subreaper.Config{
		Command: append([]string{self}, p.Args...), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Spares: isGuardian,
	})
	if err == nil && code != cli.ExitOK {
		return &cli.ExitError{Code: code}
	}
	return err
}

// isGuardian reports whether a process is this program as a guardian, which ends by itself. One that only looks like it can
// do no more than a guardian does.
func isGuardian(pid int) bool {
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
	return err == nil && len(args) == 2 && string(args[1]) == guardianCommand
}
