package commands

import (
	"encoding/json"
	"io"
	"time"

	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// display shows the events of a run.
type display interface {
	show(e loop.Event) error
}

// jsonDisplay writes each event as one line of JSON.
type jsonDisplay struct{ out io.Writer }

// header holds the fields of every line. The fields of the payload are at the same level.
type header struct {
	Seq   uint64    `json:"seq"`
	Index uint64    `json:"index,omitempty"` // position of an event that the journal does not keep
	Time  time.Time `json:"time"`
	Type  loop.Type `json:"type"`
}

type startedLine struct {
	header
	RunID   string `json:"run_id"`
	Prompt  string `json:"prompt"`
	Model   string `json:"model"`
	Session string `json:"session"`
	// the JSON Schema of the answer
	ResponseSchema json.RawMessage `json:"response_schema,omitempty"`
	Attachments    []attachedItem  `json:"attachments,omitempty"`
}

type textLine struct {
	header
	Text        string         `json:"text"`
	Attachments []attachedItem `json:"attachments,omitempty"`
}

type argumentLine struct {
	header
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	Text   string `json:"text"`
}

// answerLine is the answer as far as the model has written it.
type answerLine struct {
	header
	Answer json.RawMessage `json:"answer"`
}

type assistantLine struct {
	header
	Text       string     `json:"text"`
	Calls      []callLine `json:"calls"`
	StopReason string     `json:"stop_reason"`
	Usage      tool.Usage `json:"usage"`
	Cost       float64    `json:"cost,omitempty"`
}

// callLine is a call. The arguments are JSON, or text if they are not valid JSON.
type callLine struct {
	CallID       string          `json:"call_id"`
	Tool         string          `json:"tool"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	ArgumentsRaw string          `json:"arguments_raw,omitempty"`
}

type callStartedLine struct {
	header
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Attempt int    `json:"attempt,omitempty"` // the first attempt is 1 and is left out
}

type statusLine struct {
	header
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	tool.Status
}

type resultLine struct {
	header
	CallID     string         `json:"call_id"`
	Tool       string         `json:"tool"`
	Plugin     string         `json:"plugin"`
	Instance   string         `json:"instance"`
	IsError    bool           `json:"is_error"`
	Text       string         `json:"text"`
	Content    []tool.Content `json:"content"`
	DurationMS int64          `json:"duration_ms"`
	Error      *loop.Failure  `json:"error,omitempty"`
	// Settled is what the tool said when the outcome of the call was unknown.
	Settled *tool.Settlement `json:"settled,omitempty"`
}

type resetLine struct {
	header
	Reason  string `json:"reason"`
	Attempt int    `json:"attempt"`
}

type cancelLine struct {
	header
	Reason string `json:"reason"`
}

type finishedLine struct {
	header
	StopReason loop.StopReason `json:"stop_reason"`
	Message    string          `json:"message"`
	Text       string          `json:"text"`
	Turns      int             `json:"turns"`
	Calls      int             `json:"calls"`
	Usage      tool.Usage      `json:"usage"`
	Cost       float64         `json:"cost,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"` // the answer that fits the response schema
}

func (d *jsonDisplay) show(e loop.Event) error {
	return cli.WriteJSON(d.out, line(e))
}

// line returns the value that the line of an event holds.
func line(e loop.Event) any {
	h := header{Seq: e.Seq, Index: e.Index, Time: e.Time.UTC(), Type: e.Payload.Type()}
	switch p := e.Payload.(type) {
	case *loop.RunStarted:
		return startedLine{h, p.RunID, p.Prompt, p.Model, p.Session, p.ResponseSchema, attachedItems(p.Attachments)}
	case *loop.UserMessage:
		return textLine{h, p.Text, attachedItems(p.Attachments)}
	case *loop.TextDelta:
		return textLine{header: h, Text: p.Text}
	case *loop.AssistantMessage:
		l := assistantLine{header: h, Text: p.Text(), Calls: []callLine{}, StopReason: string(p.StopReason), Usage: p.Usage, Cost: p.Cost}
		for _, c := range p.Calls {
			l.Calls = append(l.Calls, newCallLine(c))
		}
		return l
	case *loop.CallStarted:
		return callStartedLine{h, p.CallID, p.Tool, p.Attempt}
	case *loop.CallStatus:
		return statusLine{h, p.CallID, p.Tool, p.Status}
	case *loop.CallResult:
		return newResultLine(h, p)
	case *loop.TurnReset:
		return resetLine{h, p.Reason, p.Attempt}
	case *loop.CancelRequested:
		return cancelLine{h, p.Reason}
	case *loop.RunFinished:
		return finishedLine{h, p.StopReason, p.Message, p.Text, p.Turns, p.Calls, p.Usage, p.Cost, p.Result}
	}
	return moreLine(h, e)
}

func newCallLine(c loop.Call) callLine {
	l := callLine{CallID: c.ID, Tool: c.Tool}
	if json.Valid([]byte(c.Arguments)) {
		l.Arguments = json.RawMessage(c.Arguments)
	} else {
		l.ArgumentsRaw = c.Arguments
	}
	return l
}

func newResultLine(h header, p *loop.CallResult) resultLine {
	content := p.Result.Content
	if content == nil {
		content = []tool.Content{}
	}
	return resultLine{
		header: h, CallID: p.CallID, Tool: p.Tool, Plugin: p.Plugin, Instance: p.Instance, IsError: p.Result.IsError,
		Text: p.Result.Text(), Content: content, Error: p.Failure, Settled: p.Settled,
		DurationMS: p.Result.Duration.Milliseconds(),
	}
}
