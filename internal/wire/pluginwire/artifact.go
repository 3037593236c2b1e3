package pluginwire

import (
	"context"
	"sync"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// ArtifactReader returns at most limit bytes of an artifact from an offset, if the call may read
// it. An error that is or wraps a *tool.Error keeps its kind. It must return when ctx ends.
type ArtifactReader = func(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error)

// pieceSize returns the size of a piece for the limit that the plugin requested.
func pieceSize(limit uint32) int {
	if limit == 0 || limit > maxPiece {
		return maxPiece
	}
	return int(limit)
}

// questions are the artifact requests of a plugin in one call. The contract allows one open
// request. Call.mu guards them.
type questions struct {
	open     bool
	arrivals []bool // for each request that Next has not yet read, in order: whether no other was open when it arrived
}

// asked records a request before Next can read its frame.
func (c *Call) asked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions.arrivals = append(c.questions.arrivals, !c.questions.open)
	c.questions.open = true
}

// answer answers an artifact request.
func (c *Call) answer(ctx context.Context, question *pluginv1.ReadArtifact) error {
	c.mu.Lock()
	alone := c.questions.arrivals[0]
	c.questions.arrivals = c.questions.arrivals[1:]
	c.mu.Unlock()
	piece := &pluginv1.ArtifactPiece{}
	if !alone {
		piece.Error = toolpb.FromError(tool.Errorf(tool.KindInvalidArgument, "a call asks for one piece of an artifact at a time"))
	} else if read, err := c.readArtifact(ctx, question); err != nil {
		failure := *tool.AsError(err)
		failure.Message = clip(failure.Message, maxReason)
		piece.Error = toolpb.FromError(&failure)
	} else {
		piece.Data, piece.Size = read.Data, read.Size
		piece.MediaType, piece.Name = validText(clip(read.MediaType, maxReason)), validText(clip(read.Name, maxReason))
	}
	if alone {
		c.mu.Lock()
		c.questions.open = false // before the plugin receives the answer and requests the next piece
		c.mu.Unlock()
	}
	frame := &pluginv1.ConnectRequest{Call: c.number, Frame: &pluginv1.ConnectRequest_Artifact{Artifact: piece}}
	return c.put(ctx, frame, len(piece.GetData()))
}

func (c *Call) readArtifact(ctx context.Context, question *pluginv1.ReadArtifact) (tool.ArtifactPiece, error) {
	if c.artifacts == nil {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "no artifacts are kept here")
	}
	limit := pieceSize(question.GetLimit())
	read, err := c.artifacts(ctx, question.GetHandle(), question.GetOffset(), limit)
	if len(read.Data) > limit {
		read.Data = read.Data[:limit]
	}
	return read, err
}

// ReadArtifact requests a piece of an artifact whose handle the tool found in its arguments: at
// most limit bytes, and at most 64 KiB, from an offset. 0 means 64 KiB. At or after the end the
// piece is empty. The error has the kind not_found if the call may not read the artifact; otherwise
// it is that of ctx or of the call. It is safe for concurrent use; the requests of a call are sent
// one after the other.
func (c *ServerCall) ReadArtifact(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	turn := c.asking.turns()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(ctx)
	case <-c.ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(c.ctx)
	}
	answer := make(chan *pluginv1.ArtifactPiece, 1)
	c.asking.await(answer)
	question := &pluginv1.ReadArtifact{Handle: validText(handle), Offset: offset, Limit: uint32(min(max(limit, 0), maxPiece))}
	frame := &pluginv1.ConnectResponse{Call: c.number, Frame: &pluginv1.ConnectResponse_ReadArtifact{ReadArtifact: question}}
	if err := c.send(ctx, frame); err != nil {
		c.asking.withdraw()
		return tool.ArtifactPiece{}, err
	}
	// If the caller leaves before the answer arrives, the request stays open, and the next one
	// waits until the answer has arrived.
	select {
	case piece := <-answer:
		return toPiece(piece)
	case <-ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(ctx)
	case <-c.ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(c.ctx)
	}
}

// asking is the artifact request of a call. Few calls have one; the zero value has none.
type asking struct {
	mu     sync.Mutex
	turn   chan struct{}                // contains a token while a request is open; nil before the first request
	answer chan *pluginv1.ArtifactPiece // receives the answer; nil: no goroutine waits for one
}

// turns returns the channel that serializes requests.
func (a *asking) turns() chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turn == nil {
		a.turn = make(chan struct{}, 1)
	}
	return a.turn
}

// await sets the channel for the answer, which must be buffered.
func (a *asking) await(answer chan *pluginv1.ArtifactPiece) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

// withdraw ends a request that was not sent.
func (a *asking) withdraw() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer != nil {
		a.answer = nil
		<-a.turn
	}
}

// answered delivers the host's answer. It ignores an answer without a request.
func (a *asking) answered(piece *pluginv1.ArtifactPiece) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer == nil {
		return
	}
	a.answer <- piece
	a.answer = nil
	<-a.turn
}

func toPiece(m *pluginv1.ArtifactPiece) (tool.ArtifactPiece, error) {
	if m.GetError() != nil {
		return tool.ArtifactPiece{}, toolpb.ToError(m.GetError())
	}
	return tool.ArtifactPiece{Data: m.GetData(), MediaType: m.GetMediaType(), Size: m.GetSize(), Name: m.GetName()}, nil
}
