package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// The errors for a name, in addition to fs.ErrNotExist, fs.ErrPermission and fs.ErrInvalid.
var (
	// ErrOutside means that the name leads out of the workspace.
	ErrOutside = errors.New("outside of the workspace")
	// ErrFolder means that the name leads to a folder where a file is required.
	ErrFolder = errors.New("is a folder")
	// ErrNotFolder means that the name, or a part of it, is not a folder where a folder is
	// required.
	ErrNotFolder = errors.New("is no folder")
	// ErrIrregular means that the name leads to neither a regular file nor a folder.
	ErrIrregular = errors.New("is no regular file")
	// ErrTooLarge means that the file has more bytes than ReadFile returns.
	ErrTooLarge = errors.New("is too large")
	// ErrChanged means that the file does not have the required version.
	ErrChanged = errors.New("was changed by another writer")
)

// The errors of a workspace as a whole.
var (
	// ErrUnavailable means that the machine with the files or commands does not answer, or has no
	// room. Nothing was changed, and no command ran.
	ErrUnavailable = errors.New("the workspace is not available")
	// ErrUnknownOutcome means that a write or a command was sent, and that nothing is known about its
	// effects.
	ErrUnknownOutcome = errors.New("the outcome is not known")
	// ErrNoCommands means that the workspace has only files.
	ErrNoCommands = errors.New("the workspace runs no commands")
	// ErrNoProgram means that the machine that runs commands does not have the program.
	ErrNoProgram = errors.New("there is no such program")
)

// Error is an error for a name, with a message for the model or person that chose the name.
type Error struct {
	Message string
	Err     error // an error of the package documentation, or another cause
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func errorf(err error, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Err: err}
}

// Kind returns the kind of a file: file, folder, link, fifo, socket or device.
func Kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "folder"
	case fs.ModeSymlink:
		return "link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}

// onlyFile refuses everything except a regular file.
func onlyFile(name string, mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errorf(ErrFolder, "%q is a folder", name)
	}
	return errorf(ErrIrregular, "%q is no regular file but a %s", name, Kind(mode))
}

// onlyFolder refuses everything except a folder.
func onlyFolder(name string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return nil
	case mode.IsRegular():
		return errorf(ErrNotFolder, "%q is a file", name)
	}
	return errorf(ErrNotFolder, "%q is no folder but a %s", name, Kind(mode))
}

// escapes is the error text of os.Root for a path that leads out. Package os exports no value for
// comparison.
const escapes = "path escapes from parent"

// explain returns the error for a name. Its message has no path outside of the workspace.
func explain(action, name string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("trying to %s %q: %w", action, name, err)
	}
	cause := err
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		cause = inner
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errorf(fs.ErrNotExist, "there is no %q in the workspace", name)
	case errors.Is(err, fs.ErrPermission):
		return errorf(fs.ErrPermission, "there is no permission to %s %q", action, name)
	case errors.Is(err, syscall.ENOTDIR):
		return errorf(ErrNotFolder, "a part of the path %q is no folder", name)
	case cause.Error() == escapes:
		return outsideByLink(name)
	}
	return errorf(cause, "cannot %s %q: %v", action, name, cause)
}

func outsideByLink(name string) error {
	return errorf(ErrOutside, "the path %q leads out of the workspace by a symbolic link; only links with a relative target inside the workspace are followed", name)
}
