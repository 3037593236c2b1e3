package commands

import (
	"encoding/json"
	"io"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// display shows the events of a run.
type display interface {
	show(e client.RunEvent) error
}

// jsonDisplay writes each event as one line of JSON.
type jsonDisplay struct{ out io.Writer }

// header holds the fields of every line. The fields of the payload are at the same level.
type header struct {
	Seq   uint64    `json:"seq"`
	Index uint64    `json:"index,omitempty"` // position of an event that the journal does not keep
	Time  time.Time `json:"time"`
	Type  string    `json:"type"`
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
	Error      *failureLine   `json:"error,omitempty"`
	// Settled is what the tool said when the outcome of the call was unknown.
	Settled *tool.Settlement `json:"settled,omitempty"`
}

// failureLine is the failure of a call.
type failureLine struct {
	Kind             tool.Kind       `json:"kind"`
	Message          string          `json:"message"`
	RetryAfterMS     int64           `json:"retry_after_ms,omitempty"`
	Plugin           string          `json:"plugin,omitempty"`
	Instance         string          `json:"instance,omitempty"`
	Exit             *tool.Exit      `json:"exit,omitempty"`
	Rule             string          `json:"rule,omitempty"`
	Arguments        json.RawMessage `json:"arguments,omitempty"`
	ArgumentsSHA256  string          `json:"arguments_sha256,omitempty"`
	FourEyes         bool            `json:"four_eyes,omitempty"`
	DefinitionSHA256 string          `json:"definition_sha256,omitempty"`
	SessionMove      string          `json:"session_move,omitempty"`
}

func newFailureLine(e *tool.Error) *failureLine {
	if e == nil {
		return nil
	}
	return &failureLine{e.Kind, e.Message, e.RetryAfter.Milliseconds(), e.Plugin, e.Instance, e.Exit, e.Rule, e.Arguments, e.ArgumentsSHA256, e.FourEyes, e.DefinitionSHA256, e.SessionMove}
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
	StopReason client.StopReason `json:"stop_reason"`
	Message    string            `json:"message"`
	Text       string            `json:"text"`
	Turns      int               `json:"turns"`
	Calls      int               `json:"calls"`
	Usage      tool.Usage        `json:"usage"`
	Cost       float64           `json:"cost,omitempty"`
	Result     json.RawMessage   `json:"result,omitempty"` // the answer that fits the response schema
}

func (d *jsonDisplay) show(e client.RunEvent) error {
	return cli.WriteJSON(d.out, line(e))
}

// line returns the value that the line of an event holds.
func line(e client.RunEvent) any {
	h := header{Seq: e.Seq, Index: e.Index, Time: e.Time.UTC(), Type: e.Type}
	switch p := e.Payload.(type) {
	case *client.RunStarted:
		return startedLine{h, p.RunID, p.Prompt, p.Model, p.Session, p.ResponseSchema, attachedItems(p.Attachments)}
	case *client.UserMessage:
		return textLine{h, p.Text, attachedItems(p.Attachments)}
	case *client.TextDelta:
		return textLine{header: h, Text: p.Text}
	case *client.AssistantMessage:
		l := assistantLine{header: h, Text: p.Text, Calls: []callLine{}, StopReason: p.StopReason, Usage: p.Usage, Cost: p.Cost}
		for _, c := range p.Calls {
			l.Calls = append(l.Calls, newCallLine(c))
		}
		return l
	case *client.CallStarted:
		return callStartedLine{h, p.CallID, p.Tool, p.Attempt}
	case *client.CallStatus:
		return statusLine{h, p.CallID, p.Tool, p.Status}
	case *client.CallResult:
		return newResultLine(h, p)
	case *client.TurnReset:
		return resetLine{h, p.Reason, p.Attempt}
	case *client.CancelRequested:
		return cancelLine{h, p.Reason}
	case *client.RunEnded:
		return finishedLine{h, p.StopReason, p.Message, p.Text, p.Turns, p.Calls, p.Usage, p.Cost, p.Result}
	}
	return moreLine(h, e)
}

func newCallLine(c client.ToolCall) callLine {
	l := callLine{CallID: c.CallID, Tool: c.Tool}
	if json.Valid(c.Arguments) {
		l.Arguments = c.Arguments
	} else {
		l.ArgumentsRaw = string(c.Arguments)
	}
	return l
}

func newResultLine(h header, p *client.CallResult) resultLine {
	content := p.Result.Content
	if content == nil {
		content = []tool.Content{}
	}
	return resultLine{
		header: h, CallID: p.CallID, Tool: p.Tool, Plugin: p.Plugin, Instance: p.Instance, IsError: p.Result.IsError,
		Text: p.Result.Text(), Content: content, Error: newFailureLine(p.Err), Settled: p.Settled,
		DurationMS: p.Result.Duration.Milliseconds(),
	}
}
