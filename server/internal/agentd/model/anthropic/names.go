package anthropic

import (
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/render"
)

// renames has the parameters that the API gets under other names, because it refuses a request with
// a name such as $top: the API's name by the tool's own, by tool. The conversation, and so
// everything behind this package, has the tools' own names: rules, approvals, journals and the
// tools themselves.
type renames map[string]map[string]string

// told returns a conversation as the API gets it.
func (r renames) told(conversation []model.Message) []model.Message {
	if len(r) == 0 {
		return conversation
	}
	conversation = slices.Clone(conversation)
	for i, message := range conversation {
		conversation[i].Blocks = slices.Clone(message.Blocks)
		for j, block := range message.Blocks {
			if call := block.ToolCall; call != nil && r[call.Name] != nil {
				conversation[i].Blocks[j] = renamed(call, r[call.Name])
			}
		}
	}
	return conversation
}

func renamed(call *model.ToolCall, names map[string]string) model.Block {
	other := *call
	other.Arguments = string(render.Renamed([]byte(call.Arguments), names))
	return model.Block{ToolCall: &other}
}

// read returns a yield that passes on what the API sends with the tools' own names. A name is whole
// only at the end of the arguments, so they come as one piece before the response.
func (r renames) read(yield func(model.Chunk) bool) func(model.Chunk) bool {
	if len(r) == 0 {
		return yield
	}
	held := map[int]bool{} // by index of the call
	return func(chunk model.Chunk) bool {
		switch {
		case chunk.CallBegun != nil:
			held[chunk.CallBegun.Index] = r[chunk.CallBegun.Name] != nil
		case chunk.ArgumentDelta != nil && held[chunk.ArgumentDelta.Index]:
			return yield(model.Chunk{Alive: true})
		case chunk.Response != nil:
			return r.finish(chunk.Response, yield)
		}
		return yield(chunk)
	}
}

func (r renames) finish(response *model.Response, yield func(model.Chunk) bool) bool {
	index := 0
	for i, block := range response.Message.Blocks {
		if block.ToolCall == nil {
			continue
		}
		if names := r[block.ToolCall.Name]; names != nil {
			own := make(map[string]string, len(names))
			for name, safe := range names {
				own[safe] = name
			}
			block = renamed(block.ToolCall, own)
			response.Message.Blocks[i] = block
			delta := &model.ArgumentDelta{Index: index, Text: block.ToolCall.Arguments}
			if delta.Text != "" && !yield(model.Chunk{ArgumentDelta: delta}) {
				return false
			}
		}
		index++
	}
	return yield(model.Chunk{Response: response})
}
