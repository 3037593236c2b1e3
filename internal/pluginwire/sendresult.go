package pluginwire

import (
	"slices"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxEnd bounds the end of a call, so that it is sent at all: what is not content cannot go ahead in chunks.
const maxEnd = 1 << 20

// sendResult sends what does not fit into the end of the call ahead of it, and returns the rest as the outcome.
// It waits for credit, as long as the call may take.
func (c *ServerCall) sendResult(result tool.Result) (*pluginv1.CallEnd_Result, error) {
	if len(result.Content) > maxBlocks {
		return nil, tool.Errorf(tool.KindInternal, "the tool's result has %d blocks; there may be %d", len(result.Content), maxBlocks)
	}
	result.Content = slices.Clone(result.Content) // the handler's own stays as it is
	end := toolpb.FromResult(result)
	room := maxPiece // for the payload of all blocks together
	for i := range end.GetContent() {
		payload := takePayload(&result.Content[i], max(room, 0))
		if payload == nil {
			room -= proto.Size(end.Content[i])
			continue
		}
		end.Content[i] = toolpb.FromContent(result.Content[i])
		if err := c.sendChunks(uint32(i), payload); err != nil {
			return nil, err
		}
	}
	if size := proto.Size(end); size > maxEnd {
		return nil, tool.Errorf(tool.KindInternal, "the effects, metadata and artifacts of the tool's result have %d bytes; at most %d can be sent", size, maxEnd)
	}
	return &pluginv1.CallEnd_Result{Result: end}, nil
}

// takePayload takes the block's payload out of it if it has more than room bytes, and returns nil if not.
func takePayload(block *tool.Content, room int) (payload []byte) {
	switch block.Kind {
	case tool.ContentText:
		if len(block.Text) > room {
			payload, block.Text = []byte(block.Text), ""
		}
	case tool.ContentJSON:
		if len(block.JSON) > room {
			payload, block.JSON = block.JSON, nil
		}
	case tool.ContentImage, tool.ContentFile:
		if len(block.Data) > room {
			payload, block.Data = block.Data, nil
		}
	}
	return payload
}

func (c *ServerCall) sendChunks(index uint32, payload []byte) error {
	for len(payload) > 0 {
		n := min(len(payload), maxPiece)
		chunk := &pluginv1.ContentChunk{Index: index, Data: payload[:n]}
		frame := &pluginv1.ConnectResponse{Call: c.number, Frame: &pluginv1.ConnectResponse_Chunk{Chunk: chunk}}
		if err := c.send(c.ctx, frame); err != nil {
			return err
		}
		payload = payload[n:]
	}
	return nil
}

// setError makes err the outcome, clipped to what an end may have.
func setError(end *pluginv1.CallEnd, err *tool.Error) {
	out := toolpb.FromError(err)
	out.Message = clip(out.Message, maxPiece)
	if proto.Size(out) > maxEnd {
		out.Exit, out.Plugin, out.Instance, out.CallId = nil, "", "", ""
	}
	end.Outcome = &pluginv1.CallEnd_Error{Error: out}
}
