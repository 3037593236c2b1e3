package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/markup"
	"github.com/toolhost/toolhost/tool"
)

// maxResponseSchema is the size of the largest response schema in bytes. The journal and every
// request to the model contain it.
const maxResponseSchema = 256 << 10

// CheckResponseSchema returns a response schema without white space, or a KindInvalidArgument if no
// run can have it. An empty schema is allowed.
func CheckResponseSchema(schema json.RawMessage) (json.RawMessage, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	if len(schema) > maxResponseSchema {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the response schema has %d bytes, more than %d", len(schema), maxResponseSchema)
	}
	var root struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(schema, &root); err != nil || root.Type != "object" || !utf8.Valid(schema) {
		return nil, tool.Errorf(tool.KindInvalidArgument, `the response schema must be a JSON Schema with "type": "object"`)
	}
	if _, err := arguments.Compile(schema); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the response schema cannot be used: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, schema); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the response schema cannot be used: %w", err)
	}
	return compact.Bytes(), nil
}

// sameJSON reports whether two JSON texts differ only by white space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// judgeAnswer compares the answer in a response with the run's response schema. It returns nil if
// the run has no schema, or the response gives no answer.
//
// The schema is always that of the caller or the agent. A provider may have enforced only a part of
// it.
func (q *modelRequest) judgeAnswer(resp *model.Response) *loop.Answer {
	if len(q.started.ResponseSchema) == 0 {
		return nil
	}
	text, index, ok := loop.AnswerIn(&resp.Message)
	if !ok {
		return nil
	}
	answer := &loop.Answer{}
	if index >= 0 {
		answer.CallID = loop.CallID(q.started.RunID, q.turn, index)
	}
	err := q.run.schema.fits(q.started.ResponseSchema, text)
	switch {
	case err == nil:
	case index >= 0:
		answer.Problem = err.Error()
	case len(q.request.Schema) > 0:
		answer.Problem = fmt.Sprintf("the text of the response has to be one JSON object, and was checked like the arguments of a tool: %v", err)
	default:
		answer.Problem = fmt.Sprintf("give the answer by a call of %s. The text of the response was checked instead, like the arguments of a tool: %v",
			loop.SystemFinalAnswer, err)
	}
	return answer
}

// callAsText returns the form in which the text of a response is a tool call; see package markup.
// It returns "" for an answer, and if no tool was offered.
func (q *modelRequest) callAsText(resp *model.Response) string {
	names := make([]string, len(q.request.Tools))
	for i := range q.request.Tools {
		names[i] = q.request.Tools[i].Name
	}
	calls := slices.ContainsFunc(resp.Message.Blocks, func(b model.Block) bool { return b.ToolCall != nil })
	if len(names) == 0 || calls {
		return ""
	}
	return markup.Find(loop.TextOf(&resp.Message), names)
}

// answerSchema is the response schema of a run, compiled at the first answer. The zero value is
// ready. It is safe for concurrent use.
type answerSchema struct {
	once     sync.Once
	compiled *arguments.Schema
	err      error
}

// fits returns nil if a text is a JSON object that fits the schema, which is the same in each call.
// Otherwise the error tells a model what is wrong.
func (s *answerSchema) fits(schema json.RawMessage, text string) error {
	s.once.Do(func() { s.compiled, s.err = arguments.Compile(schema) })
	if s.err != nil { // it was compiled when the run began, perhaps by another version
		return fmt.Errorf("no answer can be checked: the response schema cannot be used: %w", s.err)
	}
	parsed, err := arguments.Parse([]byte(text))
	if err != nil {
		return err
	}
	return s.compiled.Validate(parsed)
}

// systemTool returns a system tool as the model sees it. If the model's API refuses the response
// schema as the input schema of final_answer, the description has the schema instead, and agentd
// alone enforces it.
func systemTool(m model.Model, spec *tool.Spec) model.Tool {
	t := modelTool(spec)
	limiter, ok := m.(model.ToolLimiter)
	if !ok || spec.Name != loop.SystemFinalAnswer || limiter.Refuses(t) == "" {
		return t
	}
	t.Description += "\n\nThe arguments have to fit this JSON Schema:\n" + string(spec.InputSchema)
	t.InputSchema = json.RawMessage(`{"type":"object"}`)
	return t
}
