package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/crashoutput"
	"github.com/toolhost/toolhost/internal/nearest"
	"github.com/toolhost/toolhost/tool"
)

// ExitError ends a command with an exit code.
type ExitError struct {
	Code int
	Err  error // what to tell people; nil: all is said already
}

// Error returns what to tell people.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Usage returns an error that says what is wrong with the command line, and what is allowed.
func Usage(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Run runs a command tree and returns the exit code. An error goes to standard error, after the program's name. What
// cobra itself finds wrong is wrong usage. The flag --version prints Version. An error that wraps client.ErrNoServer should say how to start one.
func Run(ctx context.Context, root *cobra.Command, p Process) int {
	begun := false
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	root.SetArgs(append([]string{}, p.Args...)) // nil would mean the arguments of this process
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.Version = Version()
	root.Flags().Bool("version", false, "print the version, or the commit it was built from, and exit")
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.SetFlagErrorFunc(flagError)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	exit, ok := errors.AsType[*ExitError](err)
	switch {
	case ok:
	case begun:
		exit = &ExitError{Code: CodeOf(err), Err: err}
	default:
		exit = &ExitError{Code: ExitUsage, Err: fmt.Errorf("%w%s\n%s", err, meantCommand(cmd, p.Args), allowed(cmd))}
	}
	if exit.Err != nil {
		report(p, root.Name(), exit.Err)
	}
	return exit.Code
}

// allowed says how a command is used, and which commands it has.
func allowed(cmd *cobra.Command) string {
	if !cmd.HasAvailableSubCommands() {
		example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
		if example != "" {
			example = "\nexample: " + example
		}
		return fmt.Sprintf("usage: %s; see `%s --help`%s", cmd.UseLine(), cmd.CommandPath(), example)
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Sprintf("the commands of `%s` are %s; see `%s --help`", cmd.CommandPath(), strings.Join(names, ", "), cmd.CommandPath())
}

// meantCommand says which command an argument that names none may have meant; "" if it resembles none.
func meantCommand(cmd *cobra.Command, args []string) string {
	if !cmd.HasAvailableSubCommands() {
		return ""
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	for _, arg := range args {
		if near := nearest.Names(arg, names, 1); len(near) > 0 && !slices.Contains(names, arg) {
			return didYouMean(cmd.CommandPath() + " " + near[0])
		}
	}
	return ""
}

// didYouMean goes on from what was not known.
func didYouMean(name string) string { return fmt.Sprintf("; did you mean `%s`?", name) }

// CodeOf returns the exit code of a failure of the machinery. That nobody answers is one of its own, unless what was
// asked may have been done before the server went away.
func CodeOf(err error) int {
	if errors.Is(err, client.ErrNoServer) && tool.KindOf(err) == tool.KindUnavailable {
		return ExitNoServer
	}
	return ExitInfrastructure
}

// stderrLines is how many lines of a process that crashed are shown: enough for the reason, and little enough for that
// to stay on the screen.
const stderrLines = 15

// report tells people what failed, and what the process that failed said last.
func report(p Process, program string, err error) {
	message := strings.TrimRight(err.Error(), "\n")
	failure, ok := errors.AsType[*tool.Error](err)
	if ok && CodeOf(err) != ExitNoServer {
		message = fmt.Sprintf("%s: %s", failure.Kind, message)
	}
	out := p.Err()
	fmt.Fprintf(out, "%s: %s\n", program, message)
	if ok && failure.Exit != nil {
		fmt.Fprintf(out, "the plugin's process ended: %s\n", failure.Exit)
		for _, line := range crashoutput.Excerpt(failure.Exit.LastStderr, stderrLines) {
			fmt.Fprintf(out, "  %s\n", OneLine(line))
		}
	}
}

// flagError adds to what is wrong with a flag which flags there are.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	slices.Sort(known)
	path := cmd.CommandPath()
	meant := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && len(unknown.GetSpecifiedName()) > 1 {
		if near := nearest.Names("--"+unknown.GetSpecifiedName(), known, 1); len(near) > 0 {
			meant = didYouMean(near[0])
		}
	}
	return Usage("%w%s\nthe flags of `%s` are %s; see `%s --help`", err, meant, path, strings.Join(known, ", "), path)
}
