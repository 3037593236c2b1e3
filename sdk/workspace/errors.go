package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// What can be wrong with a name, beside fs.ErrNotExist, fs.ErrPermission and fs.ErrInvalid.
var (
	// ErrOutside: the name leads out of the workspace.
	ErrOutside = errors.New("outside of the workspace")
	// ErrFolder: the name leads to a folder where a file is wanted.
	ErrFolder = errors.New("is a folder")
	// ErrNotFolder: the name, or a part of it that must be a folder, is none.
	ErrNotFolder = errors.New("is no folder")
	// ErrIrregular: the name leads to what is neither a regular file nor a folder.
	ErrIrregular = errors.New("is no regular file")
	// ErrTooLarge: the file has more bytes than can be returned at once.
	ErrTooLarge = errors.New("is too large")
	// ErrChanged: the file has another version than the one that was asked for.
	ErrChanged = errors.New("was changed by somebody else")
)

// Error is what is wrong with a name, in words for whoever chose it.
type Error struct {
	Message string
	Err     error // one of the errors that the package documentation names, or whatever else went wrong
}

// Error returns the message alone.
func (e *Error) Error() string { return e.Message }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func errorf(err error, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Err: err}
}

// Kind names the kind of a file in a word: file, folder, link, fifo, socket or device.
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

// onlyFile refuses what is no regular file.
func onlyFile(name string, mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errorf(ErrFolder, "%q is a folder", name)
	}
	return errorf(ErrIrregular, "%q is no regular file but a %s", name, Kind(mode))
}

// onlyFolder refuses what is no folder.
func onlyFolder(name string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return nil
	case mode.IsRegular():
		return errorf(ErrNotFolder, "%q is a file", name)
	}
	return errorf(ErrNotFolder, "%q is no folder but a %s", name, Kind(mode))
}

// escapes is the text of the error of os.Root for a path that leads out; os exports no value to compare with.
const escapes = "path escapes from parent"

// explain says what went wrong with a name, in words that name no path outside of the workspace.
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
