package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// folders opens folders of a workspace of this machine, in which processes can start.
// *workspace.Local implements it.
type folders interface {
	OpenFolder(ctx context.Context, name string) (*os.File, error)
}

// In returns what runs the commands of a workspace: the workspace itself if it can, or this process
// if the workspace is a folder of this machine. Otherwise the error wraps workspace.ErrNoCommands.
func (l *Launcher) In(w workspace.Workspace) (workspace.Commands, error) {
	if own, ok := w.(workspace.Commands); ok {
		return own, nil
	}
	if folders, ok := w.(folders); ok {
		return local{l, folders}, nil
	}
	return nil, &workspace.Error{
		Message: "this workspace runs no commands, because its files are in memory, where no process can see them",
		Err:     workspace.ErrNoCommands,
	}
}

// local runs commands in a workspace of this machine.
type local struct {
	launcher *Launcher
	folders  folders
}

// Run implements workspace.Commands.
func (c local) Run(ctx context.Context, command workspace.Command) (workspace.Exit, error) {
	if err := ctx.Err(); err != nil {
		return workspace.Exit{}, err
	}
	j, err := c.prepare(ctx, command)
	defer j.close()
	if err != nil {
		return workspace.Exit{}, err
	}
	r, err := c.launcher.run(ctx, j)
	switch {
	case errors.Is(err, workspace.ErrUnknownOutcome):
		return workspace.Exit{Ended: ctx.Err() != nil}, err
	case err != nil:
		return workspace.Exit{}, refusal(workspace.ErrUnavailable, "running the command: %w", err)
	case r.Failure != "":
		return workspace.Exit{}, refusal(fs.ErrInvalid, "the command could not be started: %s", r.Failure)
	}
	return workspace.Exit{Code: r.Code, Signal: r.Signal, Ended: r.Told, Left: r.Left}, nil
}

// prepare opens what the command needs. The caller closes the job, also after an error.
func (c local) prepare(ctx context.Context, command workspace.Command) (job, error) {
	j := job{stdout: orDiscard(command.Stdout), stderr: orDiscard(command.Stderr)}
	var err error
	if j.command, err = findProgram(command.Argv); err != nil {
		return j, err
	}
	if j.env, err = environ(os.Environ(), command.Env); err != nil {
		return j, refusal(fs.ErrInvalid, "%w", err)
	}
	// The folder is resolved from the open workspace, and the command starts in the folder that was
	// opened. No "..", link, or replacement of one by another leads out of the workspace.
	if j.folder, err = c.folders.OpenFolder(ctx, cmp.Or(command.Dir, ".")); err != nil {
		return j, err
	}
	if command.Stdin != nil {
		if j.stdin, err = keepInput(command.Stdin); err != nil {
			return j, err
		}
	}
	return j, nil
}

func (j job) close() {
	_ = j.folder.Close() // also works for nil
	_ = j.stdin.Close()
}

// findProgram returns the arguments with the path of the program.
func findProgram(argv []string) ([]string, error) {
	switch {
	case len(argv) == 0 || argv[0] == "":
		return nil, refusal(fs.ErrInvalid, "the command names no program")
	case slices.ContainsFunc(argv, func(a string) bool { return strings.ContainsRune(a, 0) }):
		return nil, refusal(fs.ErrInvalid, "the command contains a NUL character")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, refusal(workspace.ErrNoProgram, "this machine has no program %q", argv[0])
	}
	return append([]string{path}, argv[1:]...), nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// keepInput returns the input as an unlinked file, so that a command that does not read its input
// blocks nothing.
func keepInput(source io.Reader) (*os.File, error) {
	file, err := os.CreateTemp("", "stdin-*")
	if err != nil {
		return nil, refusal(workspace.ErrUnavailable, "keeping the standard input of the command: %w", pathless(err))
	}
	err = os.Remove(file.Name())
	var n int64
	if err == nil {
		n, err = io.Copy(file, io.LimitReader(source, workspace.MaxStdin+1))
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	named, _ := errors.AsType[*workspace.Error](err)
	switch {
	case named != nil: // of the source
		err = named
	case err != nil:
		err = refusal(workspace.ErrUnavailable, "keeping the standard input of the command: %w", pathless(err))
	case n > workspace.MaxStdin:
		err = refusal(workspace.ErrTooLarge, "the standard input of the command has more than %d bytes; put it into a file of the workspace", workspace.MaxStdin)
	default:
		return file, nil
	}
	_ = file.Close() // nothing in it is needed
	return nil, err
}

// pathless returns an error without paths of the machine.
func pathless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err
	}
	return err
}

// refusal returns an error of a command that did not start.
func refusal(kind error, format string, args ...any) error {
	text := fmt.Errorf(format, args...)
	return &workspace.Error{Message: text.Error(), Err: errors.Join(kind, text)}
}
