package operate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// outcomeView is the outcome of a call, as -o json prints it.
type outcomeView struct {
	Type       string                     `json:"type,omitempty"`
	CallID     string                     `json:"call_id"`
	Tool       string                     `json:"tool"`
	Plugin     string                     `json:"plugin"`
	Instance   string                     `json:"instance"`
	IsError    bool                       `json:"is_error"`
	Text       string                     `json:"text"`
	Content    []tool.Content             `json:"content"`
	DurationMS int64                      `json:"duration_ms"`
	Replayed   bool                       `json:"replayed,omitempty"`
	Settled    *tool.Settlement           `json:"settled,omitempty"`
	Effects    []tool.Effect              `json:"effects,omitempty"`
	Usage      tool.Usage                 `json:"usage,omitzero"`
	Cost       float64                    `json:"cost,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Error      *errorView                 `json:"error,omitempty"`
}

// errorView is an infrastructure error, as -o json prints it.
type errorView struct {
	Kind         tool.Kind  `json:"kind"`
	Message      string     `json:"message"`
	Rule         string     `json:"rule,omitempty"`
	RetryAfterMS int64      `json:"retry_after_ms,omitempty"`
	Exit         *tool.Exit `json:"exit,omitempty"`
	// Arguments are the final arguments that need approval. ArgumentsSHA256 is their digest.
	Arguments       json.RawMessage `json:"arguments,omitempty"`
	ArgumentsSHA256 string          `json:"arguments_sha256,omitempty"`
	Decision        string          `json:"decision,omitempty"` // the name with which toolhost holds the call
	// SessionMove follows the digest and a dot in --approve, if the approval moves the session.
	SessionMove string `json:"session_move,omitempty"`
}

func viewOutcome(toolName string, o tool.Outcome) outcomeView {
	r := o.Result
	v := outcomeView{
		CallID: o.CallID, Tool: toolName, Plugin: o.Plugin, Instance: o.Instance, IsError: r.IsError, Text: r.Text(),
		Content: printable(r.Content), DurationMS: r.Duration.Milliseconds(), Replayed: o.Replayed, Settled: o.Settled, Effects: r.Effects,
		Usage: r.Usage, Cost: r.Cost, Metadata: r.Metadata,
	}
	if e := o.Err; e != nil {
		v.Plugin, v.Instance = cmp.Or(o.Plugin, e.Plugin), cmp.Or(o.Instance, e.Instance)
		v.Error, v.Cost = viewError(e), e.Cost
	}
	return v
}

func viewError(e *tool.Error) *errorView {
	if e == nil {
		return nil
	}
	v := &errorView{
		Kind: e.Kind, Message: e.Message, Rule: e.Rule, RetryAfterMS: e.RetryAfter.Milliseconds(), Exit: e.Exit,
		ArgumentsSHA256: e.ArgumentsSHA256, Decision: e.Decision, SessionMove: e.SessionMove,
	}
	if json.Valid(e.Arguments) {
		v.Arguments = e.Arguments
	}
	return v
}

// printable returns blocks that can be encoded as JSON. A JSON block of a plugin that is not valid
// JSON becomes text.
func printable(blocks []tool.Content) []tool.Content {
	out := append([]tool.Content{}, blocks...)
	for i := range out {
		if out[i].Kind == tool.ContentJSON && !json.Valid(out[i].JSON) {
			out[i] = tool.Text(strings.ToValidUTF8(string(out[i].JSON), string(utf8.RuneError)))
		}
	}
	return out
}

// eventView is an event of a call, as -o json --stream prints it. Type says which field is set.
type eventView struct {
	Type    string          `json:"type"`
	Seq     uint64          `json:"seq,omitempty"`
	Started *tool.Started   `json:"started,omitempty"`
	Status  *tool.Status    `json:"status,omitempty"`
	Log     *tool.LogRecord `json:"log,omitempty"`
	// Question is a question of the tool, and Closed is its end.
	Question *questionView `json:"question,omitempty"`
	Closed   *closedView   `json:"question_closed,omitempty"`
}

// questionView is a question of a tool, as -o json prints it.
type questionView struct {
	ID      uint32               `json:"id"`
	CallID  string               `json:"call_id"`
	Plugin  string               `json:"plugin"`
	Tool    string               `json:"tool"`
	Expires time.Time            `json:"expires,omitzero"`
	Person  *tool.PersonQuestion `json:"person,omitempty"`
	Model   *tool.ModelQuestion  `json:"model,omitempty"`
	Roots   *tool.RootsQuestion  `json:"roots,omitempty"`
}

// closedView is the end of a question, as -o json prints it.
type closedView struct {
	ID     uint32           `json:"id"`
	Reason tool.QuestionEnd `json:"reason"`
}

// eventPrinter returns a function that prints the events of a call: as text on standard error, or
// as JSON on standard output. A failing output does not stop the call, because writing the result
// reports the failure.
func eventPrinter(p cli.Process, asJSON bool) func(tool.Event) {
	return func(e tool.Event) {
		if !asJSON {
			if line := EventLine(e); line != "" {
				fmt.Fprintln(p.Err(), line)
			}
			return
		}
		v := eventView{Seq: e.Seq, Started: e.Started, Status: e.Status, Log: e.Log}
		switch {
		case e.Started != nil:
			v.Type = "started"
		case e.Status != nil:
			v.Type = "status"
		case e.Log != nil:
			v.Type = "log"
		case e.Question != nil:
			v.Type, v.Question = "question", viewQuestion(e.Question)
		case e.Closed != nil:
			v.Type, v.Closed = "question_closed", &closedView{e.Closed.ID, e.Closed.Reason}
		}
		_ = cli.WriteJSON(p.Stdout, v)
	}
}

// viewQuestion returns a question that can be encoded as JSON. A schema that is not JSON, from a
// server that does not check it, is left out.
func viewQuestion(q *tool.Question) *questionView {
	v := &questionView{ID: q.ID, CallID: q.CallID, Plugin: q.Plugin, Tool: q.Tool, Expires: q.Expires, Person: q.Person, Model: q.Model, Roots: q.Roots}
	if q.Person != nil && !json.Valid(q.Person.Schema) {
		person := *q.Person
		person.Schema = nil
		v.Person = &person
	}
	if q.Model != nil {
		model := *q.Model
		model.Messages = slices.Clone(model.Messages)
		for i := range model.Messages {
			model.Messages[i].Content = printable(model.Messages[i].Content)
		}
		v.Model = &model
	}
	return v
}

// asked returns what a question of a kind asks.
func asked(kind tool.QuestionKind) string {
	if kind == tool.QuestionRoots {
		return "for the caller's folders"
	}
	return "a " + string(kind)
}

// EventLine returns an event as one escaped line. It returns "" for an event without information
// for people.
func EventLine(e tool.Event) string {
	switch {
	case e.Started != nil:
		line := fmt.Sprintf("%s runs in %s", e.Started.CallID, e.Started.Instance)
		for _, kind := range e.Started.Asks {
			line += ", and may ask " + asked(kind)
		}
		return cli.OneLine(line)
	case e.Log != nil:
		return cli.OneLine(fmt.Sprintf("%s: %s", e.Log.Level, e.Log.Message))
	case e.Question != nil && e.Question.Person != nil:
		return cli.OneLine(fmt.Sprintf("the plugin %s asks a person: %s", e.Question.Plugin, e.Question.Person.Message))
	case e.Question != nil && e.Question.Roots != nil:
		return cli.OneLine(fmt.Sprintf("the plugin %s asks for the caller's folders", e.Question.Plugin))
	case e.Question != nil:
		return cli.OneLine(fmt.Sprintf("the plugin %s asks a model", e.Question.Plugin))
	case e.Closed != nil:
		return fmt.Sprintf("question %d is closed: %s", e.Closed.ID, e.Closed.Reason)
	case e.Status == nil:
		return ""
	}
	s := e.Status
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	add(string(s.State))
	if s.Progress != nil {
		add(progress(*s.Progress))
	}
	add(s.Message)
	add(string(s.Parameters))
	add(string(s.Result))
	return cli.OneLine(strings.Join(parts, " "))
}

func progress(p tool.Progress) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	s := number(p.Done)
	if p.Total > 0 {
		s += "/" + number(p.Total)
	}
	if p.Message != "" {
		s += " " + p.Message
	}
	return s
}
