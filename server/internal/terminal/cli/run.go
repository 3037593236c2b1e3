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
	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/internal/text/nearest"
	"github.com/toolhost/toolhost/tool"
)

// ExitError is an error with an exit code.
type ExitError struct {
	Code int
	Err  error // the message; nil if the command has printed everything
}

// Error returns the message.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Usage returns an error of the command line. The message says what is wrong, and what is allowed.
func Usage(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Run runs a command tree and returns the exit code. It prints an error to standard error, after
// the program's name. Errors of cobra are usage errors. Run adds the flag --version. An error that
// wraps client.ErrNoServer should say how to start a server.
func Run(ctx context.Context, root *cobra.Command, p Process) int {
	begun := false
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	root.SetArgs(append([]string{}, p.Args...)) // nil would mean os.Args
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	AddVersion(root, p)
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
		p.Stderr = UntilDone(ctx, p.Stderr)
		report(p, root.Name(), exit.Err)
	}
	return exit.Code
}

// allowed returns the usage of a command, or the commands below it.
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

// meantCommand returns a suggestion for an unknown command, or "" if no command has a similar name.
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

// didYouMean returns the suggestion as the end of a sentence.
func didYouMean(name string) string { return fmt.Sprintf("; did you mean `%s`?", name) }

// CodeOf returns the exit code of an infrastructure error. It is ExitNoServer if no server
// answered, unless the server may have done the work before it stopped.
func CodeOf(err error) int {
	if errors.Is(err, client.ErrNoServer) && tool.KindOf(err) == tool.KindUnavailable {
		return ExitNoServer
	}
	return ExitInfrastructure
}

// stderrLines is the number of lines of a crashed process that report prints. They contain the
// reason and fit on a screen.
const stderrLines = 15

// report prints an error, and the last lines of the process that crashed.
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

// flagError adds the known flags to an error of a flag.
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
