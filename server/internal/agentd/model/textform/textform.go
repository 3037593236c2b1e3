// Package textform lets a model without function calling use tools: it writes its calls as text.
//
// A Model wraps any other model.Model. It describes the tools in the system prompt, in Markdown,
// and parses the calls from the text that the wrapped model streams. It writes the earlier calls
// and results of a conversation back as text. The agent sees a model with function calling.
//
// The package owns the form, which docs/models.md describes:
//
//	<use_tool name="fs_write_file">
//	<tool_arg name="path">notes.txt</tool_arg>
//	<tool_arg name="content">
//	first line
//	second line
//	</tool_arg>
//	</use_tool>
//
// A result returns in an element <tool_result name="fs_write_file">. The package executes nothing
// and retries nothing.
//
// # What is executed
//
// A parser of free text can be wrong in two ways: it can execute what the model did not mean as a
// call, and it can cut a call short. The package prevents both by one rule: the calls of a response
// become executable together, at its end, and only if the whole response can be read. Until then
// the arguments of every call lack their closing brace. They are not JSON, so that neither the
// agent nor toolhost can execute them, and a tool's preview can show them all the same. A tag that
// is not closed, or that stands where it must not stand, makes the whole response unreadable. The
// agent then records calls whose arguments are not JSON, and the next request tells the model what
// was wrong.
package textform

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Model is a model whose tool calls are text. It is safe for concurrent use if the wrapped model
// is.
//
// It is no model.ToolLimiter, because the API of the wrapped model does not see the tools.
type Model struct{ wrapped model.Model }

// Wrap returns a model that uses tools through the text of another model.
func Wrap(m model.Model) *Model { return &Model{m} }

// Name returns the name of the wrapped model.
func (m *Model) Name() string { return m.wrapped.Name() }

// Features returns the features of the wrapped model without Schema. An API that makes the text of
// a response fit a schema prevents the model from writing calls.
func (m *Model) Features() model.Features {
	features := model.FeaturesOf(m.wrapped)
	features.Schema = false
	return features
}

// maxUnreadable is the number of unreadable responses in a row after which Generate returns an
// error. It equals the agent's own limit for malformed responses.
const maxUnreadable = 3

// Generate streams one response of the wrapped model, with its calls. Leaving the loop early or
// canceling ctx ends the stream of the wrapped model.
func (m *Model) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return model.Stream(func(yield func(model.Chunk) bool) (bool, error) {
		g := &generation{history: readHistory(req.Messages), parser: newParser(req.Tools)}
		g.parser.callsBefore = g.history.calls
		for chunk, err := range m.wrapped.Generate(ctx, m.request(&req)) {
			if err != nil {
				return false, err
			}
			chunks, err := g.add(chunk)
			if err != nil {
				return false, err
			}
			for _, c := range chunks {
				if !yield(c) {
					return true, nil
				}
			}
		}
		return false, nil
	})
}

// request returns the request to the wrapped model. It has no tools and no calls.
func (m *Model) request(req *model.Request) model.Request {
	wrapped := *req
	wrapped.System = systemPrompt(req.System, req.Tools)
	wrapped.Messages = writeMessages(req.Messages, req.Tools, model.FeaturesOf(m.wrapped))
	wrapped.Tools, wrapped.Schema = nil, nil
	return wrapped
}

// generation translates the chunks of one response.
type generation struct {
	history history
	parser  *parser
	text    strings.Builder // the deltas so far
}

// add returns the chunks that follow from a chunk of the wrapped model.
func (g *generation) add(chunk model.Chunk) ([]model.Chunk, error) {
	switch {
	case chunk.TextDelta != nil:
		g.text.WriteString(chunk.TextDelta.Text)
		g.parser.feed(chunk.TextDelta.Text)
		if chunks := g.parser.take(); len(chunks) > 0 {
			return chunks, nil
		}
		return []model.Chunk{{Alive: true}}, nil
	case chunk.Response != nil:
		return g.end(chunk.Response)
	case chunk.CallBegun != nil, chunk.ArgumentDelta != nil:
		return nil, errNativeCall(tool.Usage{})
	}
	return []model.Chunk{chunk}, nil
}

// end returns the last chunks of the response.
func (g *generation) end(wrapped *model.Response) ([]model.Chunk, error) {
	message, whole := model.Message{Role: model.RoleAssistant}, ""
	for _, block := range wrapped.Message.Blocks {
		switch {
		case block.ToolCall != nil:
			return nil, errNativeCall(wrapped.Usage)
		case block.Text != nil:
			whole += block.Text.Text
		default:
			message.Blocks = append(message.Blocks, block)
		}
	}
	if rest, ok := strings.CutPrefix(whole, g.text.String()); ok {
		g.parser.feed(rest)
	}
	reason := g.parser.finish(wrapped.StopReason, g.history.suspected)
	if g.parser.problem != "" && !g.parser.suspect && goesOn(wrapped.StopReason) && g.history.unreadable+1 >= maxUnreadable {
		return g.parser.take(), model.Spent(errUnreadable(g.parser.problem), wrapped.Usage)
	}
	message.Blocks = append(message.Blocks, g.parser.blocks...)
	if g.parser.note != nil {
		message.Blocks = append(message.Blocks, g.parser.note.block())
	}
	return append(g.parser.take(), model.Chunk{Response: &model.Response{Message: message, StopReason: reason, Usage: wrapped.Usage}}), nil
}

// goesOn reports whether the agent executes the calls of a response with a stop reason.
func goesOn(reason model.StopReason) bool {
	switch reason {
	case model.StopEndTurn, model.StopToolUse, model.StopPauseTurn, "":
		return true
	}
	return false
}

func errUnreadable(problem string) error {
	return &model.Error{Malformed: true, Message: fmt.Sprintf(
		"the model wrote tool calls that cannot be read, in %d responses in a row; the last problem: %s", maxUnreadable, problem)}
}

// errNativeCall is the error for a call in the form of the wrapped API. The request offered no
// tool, so the call may be invented.
func errNativeCall(usage tool.Usage) error {
	return model.Spent(&model.Error{Malformed: true, Retryable: true, Message: "the model's server sent a native tool call, " +
		"but the configuration says that the model writes its calls as text: nothing was executed; set tools of the model to native"}, usage)
}
