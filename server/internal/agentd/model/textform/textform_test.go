package textform_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/textform"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

// The wrapped model gets the tools and the conversation as text, and nothing that it would have to
// support.
func TestRequest(t *testing.T) {
	effort := model.Sampling{Effort: model.EffortLow}
	image := tool.Content{Kind: tool.ContentImage, MediaType: "image/png", Data: []byte("png")}
	req := model.Request{
		System: "You are an agent.", Tools: tools(), MaxTokens: 100, Sampling: effort, Schema: []byte(`{"type":"object"}`),
		Messages: []model.Message{
			{Role: model.RoleUser, Blocks: []model.Block{
				{Text: &model.Text{Text: "Write it, and ignore <tool_result> here."}},
				{Attachment: &model.Attachment{Name: "a.png", MIMEType: "image/png", Data: []byte("a")}},
			}},
			{Role: model.RoleAssistant, Blocks: []model.Block{
				{Opaque: &model.Opaque{Provider: "anthropic", JSON: []byte(`{"thinking":"x"}`)}},
				{Text: &model.Text{Text: "I write."}},
				{ToolCall: &model.ToolCall{ID: "1", Name: "write", Arguments: `{"path":"a.txt","content":"one\ntwo","mode":420,"note":null,"x":{"a":"<b>"}}`}},
				{ToolCall: &model.ToolCall{ID: "2", Name: "old_tool", Arguments: `{"broken`}},
			}},
			{Role: model.RoleUser, Blocks: []model.Block{
				{ToolResult: &model.ToolResult{ID: "1", Name: "write", Content: []tool.Content{tool.Text("done</tool_result>"), image}}},
				{ToolResult: &model.ToolResult{ID: "2", Name: "old_tool", Content: []tool.Content{tool.Text("no")}, IsError: true}},
				{Text: &model.Text{Text: "Go on."}},
			}},
		},
	}
	for name, features := range map[string]model.Features{
		"images": {Schema: true, Attachments: []string{"image/*"}},
		"text":   {},
	} {
		t.Run(name, func(t *testing.T) {
			m := wrap(writer{features: features})
			got := sent(t, m, req)
			if got.Tools != nil || got.Schema != nil || got.MaxTokens != 100 || got.Sampling != effort || m.Features().Schema ||
				!cmp.Equal(m.Features().Attachments, features.Attachments) || m.Name() != "test:writer" {
				t.Errorf("the wrapped model gets %+v", got)
			}
			wiretest.GoldenFile(t, "testdata/requests/"+name+".json", wiretest.Indent(t, got.Messages)+"\n")
			wiretest.GoldenFile(t, "testdata/requests/system.md", got.System)
		})
	}
}

// A request without tools says nothing about tools, but has the calls of the conversation as text.
func TestRequestWithoutTools(t *testing.T) {
	call := model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{ToolCall: &model.ToolCall{ID: "1", Name: "write", Arguments: `{"path":"a.txt"}`}}}}
	got := sent(t, wrap(writer{}), model.Request{System: "Sum it up.", Messages: []model.Message{call}})
	if got.System != "Sum it up." || !strings.Contains(text(&got.Messages[0]), `<tool_arg name="path">a.txt</tool_arg>`) {
		t.Errorf("the wrapped model gets %+v", got)
	}
}

// A model that writes unreadable calls is told so twice. Then the request fails.
func TestUnreadableResponses(t *testing.T) {
	m := wrap(writer{text: `<use_tool name="write">`, stop: model.StopEndTurn})
	req := model.Request{Tools: tools()}
	for attempt := 1; attempt <= 2; attempt++ {
		_, response := stream(t, m, req)
		if response == nil || len(executedOf(response)) > 0 {
			t.Fatalf("response %d is %+v", attempt, response)
		}
		req.Messages = append(req.Messages, response.Message, model.Message{Role: model.RoleUser, Blocks: []model.Block{
			{ToolResult: &model.ToolResult{ID: calls(response)[0].ID, Name: "write", Content: []tool.Content{tool.Text("not JSON")}, IsError: true}},
		}})
	}
	failure := wiretest.Failure(t, m, req)
	if !failure.Malformed || failure.Retryable || failure.Usage.OutputTokens != 7 || !strings.Contains(failure.Message, `the call of "write" was not closed`) {
		t.Errorf("the third response is %+v", failure)
	}
	// A readable response in between starts the count again.
	ok := model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: &model.Text{Text: "hm"}}}}
	req.Messages = append(req.Messages, ok)
	if _, response := stream(t, m, req); response == nil {
		t.Error("the request fails although the last response was readable")
	}
}

// A response that seems to have a call in another form is text if the model repeats it.
func TestSuspectedResponseRepeated(t *testing.T) {
	m := wrap(writer{text: `Use {"name": "write"} so.`, stop: model.StopEndTurn})
	req := model.Request{Tools: tools()}
	_, first := stream(t, m, req)
	if len(calls(first)) != 1 {
		t.Fatalf("the model is not asked: %+v", first)
	}
	req.Messages = []model.Message{first.Message, {Role: model.RoleUser, Blocks: []model.Block{{ToolResult: &model.ToolResult{ID: "call_1", Name: "use_tool", IsError: true}}}}}
	_, second := stream(t, m, req)
	if len(calls(second)) > 0 || second.StopReason != model.StopEndTurn || text(&second.Message) != `Use {"name": "write"} so.` {
		t.Errorf("the second response is %+v", second)
	}
}

// A large value passes in pieces, and a long row of what looks like an escape takes no time.
func TestHugeValue(t *testing.T) {
	for _, piece := range []string{"line\n", "&amp;", "<", "[", " ", "1"} {
		value := strings.Repeat(piece, 100_000)
		written := `<use_tool name="write"><tool_arg name="content">` + value + `x</tool_arg><tool_arg name="free">` + value + `x</tool_arg></use_tool>`
		var response *model.Response
		for chunk := range textform.Wrap(writer{text: written, size: 5, stop: model.StopEndTurn}).Generate(t.Context(), model.Request{Tools: tools()}) {
			response = chunk.Response
		}
		if all := executedOf(response); len(all) != 1 || len(all[0].Arguments) < 2*len(value) {
			t.Errorf("%q is not executed", piece)
		}
	}
}

// scripted is a model that yields chunks or an error.
type scripted struct {
	chunks []model.Chunk
	err    error
	left   *bool
}

func (scripted) Name() string { return "test:scripted" }

func (s scripted) Generate(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, c := range s.chunks {
			if !yield(c, nil) {
				*s.left = true
				return
			}
		}
		if s.err != nil {
			yield(model.Chunk{}, s.err)
		}
	}
}

// The errors of the wrapped model pass unchanged, and a call in the form of its API is an error.
func TestErrors(t *testing.T) {
	left := false
	begun := []model.Chunk{{TextDelta: &model.TextDelta{Text: `<use_tool name="write"><tool_arg name="path">a`}}}
	broken := &model.Error{Status: 529, Message: "overloaded", Retryable: true}
	if failure := wiretest.Failure(t, textform.Wrap(scripted{chunks: begun, err: broken}), model.Request{Tools: tools()}); !errors.Is(failure, broken) {
		t.Errorf("the error is %+v", failure)
	}
	native := model.Response{Message: model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{ToolCall: &model.ToolCall{ID: "x", Name: "write", Arguments: "{}"}}}}, StopReason: model.StopToolUse}
	for name, chunk := range map[string]model.Chunk{"streamed": {CallBegun: &model.CallBegun{ID: "x", Name: "write"}}, "whole": {Response: &native}} {
		failure := wiretest.Failure(t, textform.Wrap(scripted{chunks: []model.Chunk{chunk}, left: &left}), model.Request{Tools: tools()})
		if !failure.Malformed || !strings.Contains(failure.Message, "set tools of the model to native") {
			t.Errorf("%s: the error is %+v", name, failure)
		}
	}
}

// Leaving the loop ends the stream of the wrapped model, and chunks that are not text pass.
func TestLeave(t *testing.T) {
	left := false
	m := textform.Wrap(scripted{chunks: []model.Chunk{{Alive: true}, {ReasoningDelta: &model.ReasoningDelta{Text: "hm"}}, {TextDelta: &model.TextDelta{Text: "a"}}}, left: &left})
	for chunk := range m.Generate(t.Context(), model.Request{}) {
		if chunk.ReasoningDelta != nil {
			break
		}
	}
	if !left {
		t.Error("the stream of the wrapped model goes on")
	}
}
