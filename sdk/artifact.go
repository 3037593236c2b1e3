package sdk

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/toolhost/toolhost/tool"
)

// Artifact is a result that was too large to be shown, of whatever tool, as a tool reads it that found its handle in its
// arguments. It never changes. What was read last is kept, 64 KiB, so it needs no buffer around it; there is nothing to
// close.
type Artifact struct {
	ctx       context.Context
	call      *call
	handle    string
	mediaType string
	name      string
	size      int64
	last      atomic.Pointer[window] // what was read last

	at int64 // where Read reads on
}

// window is a piece of an artifact and where in it that begins.
type window struct {
	begin int64
	data  []byte
}

var (
	_ io.Reader   = (*Artifact)(nil)
	_ io.ReaderAt = (*Artifact)(nil)
)

// OpenArtifact returns the artifact of a handle, such as "artifact-…", which a model copies from one tool's result into
// another one's arguments. A call sees the artifacts of its own session. ctx is the call's, and bounds all reading.
//
// If there is no such artifact, or no longer, the error says so to the model: return it.
func OpenArtifact(ctx context.Context, handle string) (*Artifact, error) {
	c := callOf(ctx)
	if c == nil {
		return nil, errors.New("opening an artifact: the context is not that of a call")
	}
	a := &Artifact{ctx: ctx, call: c, handle: handle}
	piece, err := a.read(0)
	if err != nil {
		return nil, err
	}
	a.mediaType, a.name, a.size = piece.MediaType, piece.Name, int64(piece.Size)
	return a, nil
}

// Size returns how many bytes it has.
func (a *Artifact) Size() int64 { return a.size }

// MediaType returns its IANA media type, such as text/plain for what was text and application/json for what was JSON.
func (a *Artifact) MediaType() string { return a.mediaType }

// Name returns its file name without folders, or "" if it has none.
func (a *Artifact) Name() string { return a.name }

// Read reads on where the last Read ended, at first from the beginning. It is called from one goroutine at a time.
func (a *Artifact) Read(p []byte) (int, error) {
	n, err := a.ReadAt(p, a.at)
	if a.at += int64(n); n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// ReadAt reads from an offset on, as io.ReaderAt says. It may be called from any goroutine, also beside Read.
func (a *Artifact) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errors.New("reading an artifact: the offset is negative")
	}
	for n < len(p) && offset < a.size {
		data, err := a.from(offset)
		if err != nil {
			return n, err
		}
		copied := copy(p[n:], data)
		n, offset = n+copied, offset+int64(copied)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// from returns some of the artifact from an offset within it on.
func (a *Artifact) from(offset int64) ([]byte, error) {
	if w := a.last.Load(); w != nil && offset >= w.begin && offset < w.begin+int64(len(w.data)) {
		return w.data[offset-w.begin:], nil
	}
	piece, err := a.read(offset)
	if err == nil && len(piece.Data) == 0 {
		err = io.ErrUnexpectedEOF
	}
	return piece.Data, err
}

// read asks for a piece, as large as there are. That there is no such artifact is for the model to know, whose handle it
// is.
func (a *Artifact) read(offset int64) (tool.ArtifactPiece, error) {
	piece, err := a.call.out.ReadArtifact(a.ctx, a.handle, uint64(offset), 0)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.KindNotFound {
		return piece, errors.New(e.Message)
	}
	if err == nil {
		a.last.Store(&window{begin: offset, data: piece.Data})
	}
	return piece, err
}
