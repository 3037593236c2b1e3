package sdk

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/toolhost/toolhost/tool"
)

// Artifact is the content of a result that was too large to show. A tool opens it with the handle
// in its arguments. The content never changes. An Artifact buffers 64 KiB, so a reader needs no
// other buffer, and it needs no Close.
type Artifact struct {
	ctx       context.Context
	call      *call
	handle    string
	mediaType string
	name      string
	size      int64
	last      atomic.Pointer[window] // the part that was read last

	at int64 // the offset of the next Read
}

// window is a part of an artifact, with its offset.
type window struct {
	begin int64
	data  []byte
}

var (
	_ io.Reader   = (*Artifact)(nil)
	_ io.ReaderAt = (*Artifact)(nil)
)

// OpenArtifact returns the artifact with a handle, such as "artifact-…". A model copies the handle
// from a tool's result into the arguments of another tool. A call can only open artifacts of its
// session. ctx is the call's, and bounds every read.
//
// If the artifact does not exist, or no longer, the error tells the model so. Return it.
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

// Size returns the size in bytes.
func (a *Artifact) Size() int64 { return a.size }

// MediaType returns the IANA media type: text/plain for text and application/json for JSON.
func (a *Artifact) MediaType() string { return a.mediaType }

// Name returns the file name without folders, or "" if it has none.
func (a *Artifact) Name() string { return a.name }

// Read continues where the last Read ended, at first at the beginning. Only one goroutine at a time
// may call it.
func (a *Artifact) Read(p []byte) (int, error) {
	n, err := a.ReadAt(p, a.at)
	if a.at += int64(n); n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// ReadAt implements io.ReaderAt. Any goroutine may call it, also during a Read.
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

// from returns a part of the artifact from an offset on.
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

// read requests a part of the largest size. If the artifact does not exist, the error is for the
// model, which chose the handle.
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
