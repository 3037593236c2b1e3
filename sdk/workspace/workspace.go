// Package workspace is the folder that a call's tools work in, as an interface: the files of this machine (OpenLocal), of
// a test (NewMemory), or of another machine, later.
//
// It owns names, reading, writing whole files, and the promise that no name leads out of the workspace. It does not own
// what is in the files: lines, encodings and searching are the tools'.
//
// # Names
//
// A name is a path relative to the workspace with slashes, such as src/main.go; "." is the workspace itself. An absolute
// path that lies within the workspace counts as the relative one. Nothing else is a name: not one that leads out by "..",
// by a symbolic link or by a link that is put in its way while it is used. Links are followed as long as their targets are
// relative and stay inside.
//
// # Errors
//
// The text of an error is written for a model, which chose the name: it can be returned as it is, and names no path
// outside of the workspace. What went wrong is found by errors.Is: fs.ErrNotExist, fs.ErrPermission, fs.ErrInvalid and the
// errors of this package.
package workspace

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"time"
)

// Workspace is a folder, its files and the folders below it. Its methods may be called from many goroutines at once, and
// block no longer than their context says, if the machine that holds the files lets them.
type Workspace interface {
	Reader
	Writer
	// Rel returns the name that a path stands for: relative, with slashes, and without empty and "." elements. It looks at
	// the spelling alone, so that what the name leads to may still not exist, or lead out by a link.
	Rel(path string) (name string, err error)
	// Sub returns a folder of the workspace as a workspace of its own: nothing of it leads out of that folder. Using it is
	// cheaper than long names, and it keeps naming the same folder if that is moved. The caller closes it.
	Sub(ctx context.Context, name string) (Workspace, error)
	// Close lets go of the folder. Files that are open stay so.
	Close() error
}

// Reader is what can be seen of a workspace.
type Reader interface {
	// Stat says what a name leads to, links followed.
	Stat(ctx context.Context, name string) (Info, error)
	// Open opens a regular file, links followed, for reading from its beginning. Anything else is refused and not touched:
	// a folder with ErrFolder, and what may block or act when it is opened, such as a FIFO, a socket and a device, with
	// ErrIrregular. ctx bounds the reading too.
	Open(ctx context.Context, name string) (File, error)
	// ReadFile returns the content of a regular file of at most MaxReadFile bytes. It refuses what Open refuses, and a larger
	// file with ErrTooLarge.
	ReadFile(ctx context.Context, name string) ([]byte, error)
	// ReadDir yields the entries of a folder, in no order and without "." and "..". An error is the last that it yields.
	ReadDir(ctx context.Context, name string) iter.Seq2[Entry, error]
}

// MaxReadFile is the most that ReadFile returns, in bytes: 64 MiB, as much as the arguments of a call may have. Whoever
// wants to read more opens the file and reads it in parts.
const MaxReadFile = 64 << 20

// readFile implements ReadFile by Open.
func readFile(ctx context.Context, r Reader, name string) ([]byte, error) {
	file, err := r.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var content []byte
	if file.Info().Size <= MaxReadFile { // it may say less than there is
		if content, err = io.ReadAll(io.LimitReader(file, MaxReadFile+1)); err != nil {
			return nil, err
		}
	}
	if file.Info().Size > MaxReadFile || len(content) > MaxReadFile {
		return nil, errorf(ErrTooLarge, "%q has more than %d bytes; read a part of it", name, MaxReadFile)
	}
	return content, nil
}

// Writer changes a workspace.
type Writer interface {
	// WriteFile gives a file a new content, makes it if there is none, and makes the folders that lead to it. At any moment
	// the file has its old content or the new one, as a whole. A file that is replaced keeps its permissions; one without
	// permission to write is refused, and so is what is no regular file. Where the name leads to a link, what that points to is written
	// and the link stays. What else names the old content, such as a hard link or an open file, keeps the old content.
	//
	// If o asks for a version and the file has another, the error is ErrChanged and nothing is changed.
	WriteFile(ctx context.Context, name string, content []byte, o WriteOptions) (Change, error)
}

// WriteOptions says more of a write. The zero value writes in any case.
type WriteOptions struct {
	// IfVersion is the version that the file must have, as Info gave it. Empty means any, or no file.
	IfVersion string
}

// Change is what a write did.
type Change struct {
	Before Info // the zero value if there was no file
	After  Info
}

// Created reports whether there was no file before.
func (c Change) Created() bool { return c.Before.Version == "" }

// Info says what a file or folder is.
type Info struct {
	Name    string      // the last element of the name that led to it
	Mode    fs.FileMode // kind and permissions
	Size    int64       // in bytes, of a regular file. Some files, such as those of /proc, say 0 and have more
	ModTime time.Time   // of the last change of the content
	Target  string      // where a link points to; only entries of folders can be links
	Version string      // changes with the content, says nothing else, and is never empty
}

// File is a regular file that is open for reading, from one goroutine at a time.
type File interface {
	io.ReadCloser
	// Info says what the file was when it was opened.
	Info() Info
}

// Entry is one entry of a folder.
type Entry interface {
	// Name returns the last element of its name.
	Name() string
	// Type returns its kind: the type bits of its mode.
	Type() fs.FileMode
	// Info says more, of a link itself and not of what it points to. It may take a look at the file, which may be gone.
	Info() (Info, error)
}

type contextKey struct{}

// NewContext returns a context whose calls work in w, whatever folder they come with. It is for tests of tools, with
// NewMemory, and for whoever runs tools where their files are elsewhere. The tools do not close w.
func NewContext(ctx context.Context, w Workspace) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// FromContext returns the workspace that NewContext put into the context, or nil.
func FromContext(ctx context.Context) Workspace {
	w, _ := ctx.Value(contextKey{}).(Workspace)
	return w
}
