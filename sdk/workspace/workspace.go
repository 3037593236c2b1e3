// Package workspace defines the folder in which the tools of a call work, as an interface for its
// files, and one for commands. OpenLocal returns a folder of this machine, NewMemory returns one in
// memory, and package remote returns one of a server.
//
// It owns names, reading, writing whole files, and the promise that no name leads out of the
// workspace. It does not interpret the content of files: tools handle lines, encodings and
// searches. Package commands runs commands in local workspaces.
//
// # Names
//
// A name is a path relative to the workspace with slashes, such as src/main.go; "." is the
// workspace itself. An absolute path inside the workspace is equal to the relative one. Every other
// path is refused: one that leads out by "..", by a symbolic link, or by a link that replaces an
// element during the access. The methods follow links whose targets are relative and inside.
//
// # Errors
//
// The text of an error is for a model, which chose the name. A tool can return it unchanged: it
// contains no path outside of the workspace. Use errors.Is to find the cause: fs.ErrNotExist,
// fs.ErrPermission, fs.ErrInvalid and the errors of this package.
package workspace

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"time"
)

// Workspace is a folder with its files and subfolders. Many goroutines may call its methods at
// once. The methods return soon after their context ends, unless the file system blocks.
type Workspace interface {
	Reader
	Writer
	// Rel returns the name of a path: relative, with slashes, and without empty and "." elements.
	// It only looks at the spelling. The name may not exist, or may lead out through a link.
	Rel(path string) (name string, err error)
	// Sub returns a folder of the workspace as a separate workspace: no name leads out of that
	// folder. It is cheaper than long names. That of a Local stays the same folder if another process
	// moves it. The caller closes it.
	Sub(ctx context.Context, name string) (Workspace, error)
	// Close releases the folder. Open files stay open.
	Close() error
}

// Reader reads a workspace.
type Reader interface {
	// Stat returns the information about the target of a name. It follows links.
	Stat(ctx context.Context, name string) (Info, error)
	// Open opens a regular file for reading from its beginning. It follows links. It refuses
	// anything else without opening it: a folder with ErrFolder, and a file that may block or act
	// when it is opened, such as a FIFO, a socket or a device, with ErrIrregular. ctx bounds the
	// reads too.
	Open(ctx context.Context, name string) (File, error)
	// ReadFile returns the content of a regular file with at most MaxReadFile bytes. It refuses
	// what Open refuses, and a larger file with ErrTooLarge.
	ReadFile(ctx context.Context, name string) ([]byte, error)
	// ReadDir yields the entries of a folder, in no order and without "." and "..". An error ends
	// the sequence.
	ReadDir(ctx context.Context, name string) iter.Seq2[Entry, error]
}

// MaxReadFile is the largest content that ReadFile returns, in bytes: 64 MiB, the largest arguments
// of a call. Use Open to read a larger file in parts.
const MaxReadFile = 64 << 20

// ReadAll implements ReadFile with Open, for implementations of Reader.
func ReadAll(ctx context.Context, r Reader, name string) ([]byte, error) {
	file, err := r.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var content []byte
	if file.Info().Size <= MaxReadFile { // some files report a size below the real one
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
	// WriteFile replaces the content of a file, or creates the file and the folders of its name. At
	// any moment, the file has either its old or its new content. A replaced file keeps its
	// permissions. WriteFile refuses a file without write permission, and everything except a
	// regular file. If the name leads to a link, WriteFile changes the target and the link stays. A
	// hard link or an open file keeps the old content.
	//
	// If o requires a version and the file has another, the error is ErrChanged and nothing
	// changes.
	WriteFile(ctx context.Context, name string, content []byte, o WriteOptions) (Change, error)
}

// WriteOptions are the options of a write. The zero value writes in any case.
type WriteOptions struct {
	// IfVersion is the version that the file must have, from Info.Version. Empty means any version,
	// or no file.
	IfVersion string
}

// Change is the effect of a write.
type Change struct {
	Before Info // the zero value if there was no file
	After  Info
}

// Created reports whether the write created the file.
func (c Change) Created() bool { return c.Before.Version == "" }

// Info describes a file or folder.
type Info struct {
	Name string      // the last element of the name
	Mode fs.FileMode // kind and permissions
	// the size of a regular file, in bytes. Some files, such as those of /proc, report 0 and have
	// more
	Size    int64
	ModTime time.Time // the time of the last change of the content
	Target  string    // the target of a link; only entries of folders can be links
	Version string    // changes with the content; has no other meaning, and is never empty
}

// File is an open regular file. Only one goroutine at a time may read it. A file of a Local is also
// an io.Seeker.
type File interface {
	io.ReadCloser
	// Info returns the description of the file at the time of its opening.
	Info() Info
}

// Entry is one entry of a folder.
type Entry interface {
	// Name returns the last element of the entry's name.
	Name() string
	// Type returns the type bits of the entry's mode.
	Type() fs.FileMode
	// Info returns the description of the entry, of a link itself and not of its target. It may
	// have to read the file's metadata, and fails if the file is gone.
	Info() (Info, error)
}

type contextKey struct{}

// NewContext returns a context whose calls work in w instead of their own folder. It is for tests
// of tools, with NewMemory, and for programs that run tools on files elsewhere. The tools do not
// close w.
func NewContext(ctx context.Context, w Workspace) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// FromContext returns the workspace from NewContext, or nil.
func FromContext(ctx context.Context) Workspace {
	w, _ := ctx.Value(contextKey{}).(Workspace)
	return w
}
