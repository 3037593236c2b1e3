package pluginwire

import (
	"context"
	"sync"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// ArtifactReader returns at most limit bytes of an artifact that a call may see, from an offset on. Errors that are or
// wrap a *tool.Error keep their kind. It must return when ctx ends.
type ArtifactReader func(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error)

// pieceSize is how much of an artifact one piece has where the plugin asks for limit bytes.
func pieceSize(limit uint32) int {
	if limit == 0 || limit > maxPiece {
		return maxPiece
	}
	return int(limit)
}

// questions are the questions for artifacts that a plugin asked in one call. By contract one may be open; Call.mu guards
// them.
type questions struct {
	open     bool
	arrivals []bool // of those that Next has not seen yet, in order: whether each came while no other was open
}

// asked notes a question, before its frame can be read.
func (c *Call) asked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions.arrivals = append(c.questions.arrivals, !c.questions.open)
	c.questions.open = true
}

// answer answers a question.
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
		c.questions.open = false // before the plugin can know, and ask again
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

// ReadArtifact asks the host for a piece of an artifact, whose handle the tool found in its arguments: at most limit
// bytes, and at most 64 KiB, from an offset on; 0 means 64 KiB. At or behind the end the piece is empty. The error is of
// the kind not_found if the call may not see such an artifact; else it is that of ctx or the call. It may be called from
// any goroutine; a call's questions are asked one after the other.
func (c *ServerCall) ReadArtifact(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	turn := c.asking.turns()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(ctx)
	case <-c.ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(&c.ctx)
	}
	answer := make(chan *pluginv1.ArtifactPiece, 1)
	c.asking.await(answer)
	question := &pluginv1.ReadArtifact{Handle: validText(handle), Offset: offset, Limit: uint32(min(max(limit, 0), maxPiece))}
	frame := &pluginv1.ConnectResponse{Call: c.number, Frame: &pluginv1.ConnectResponse_ReadArtifact{ReadArtifact: question}}
	if err := c.send(ctx, frame); err != nil {
		c.asking.withdraw()
		return tool.ArtifactPiece{}, err
	}
	// Who leaves before the answer has come leaves the question open: the next one waits for the answer to go by.
	select {
	case piece := <-answer:
		return toPiece(piece)
	case <-ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(ctx)
	case <-c.ctx.Done():
		return tool.ArtifactPiece{}, context.Cause(&c.ctx)
	}
}

// asking is a call's question for an artifact. Hardly any call asks: the zero value is one that has not yet.
type asking struct {
	mu     sync.Mutex
	turn   chan struct{}                // has a token while a question is open; nil: none ever was
	answer chan *pluginv1.ArtifactPiece // where its answer is awaited; nil: nowhere
}

// turns returns what a question takes its turn by.
func (a *asking) turns() chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turn == nil {
		a.turn = make(chan struct{}, 1)
	}
	return a.turn
}

// await says where the answer goes, which has room for it.
func (a *asking) await(answer chan *pluginv1.ArtifactPiece) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

// withdraw ends a question that was not asked.
func (a *asking) withdraw() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer != nil {
		a.answer = nil
		<-a.turn
	}
}

// answered takes the host's answer. One that nobody asked for is ignored.
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
