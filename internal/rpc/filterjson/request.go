package filterjson

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// Phase says when a filter is asked.
type Phase string

// The phases.
const (
	Before Phase = "before" // the call has not been made
	After  Phase = "after"  // the tool has answered
)

// Question is what a filter is told of a call. Empty members are absent in JSON.
type Question struct {
	Phase     Phase
	CallID    string // of the call that is filtered, not of the filter's own
	Principal string
	Session   string
	Tool      string
	Plugin    string
	Arguments json.RawMessage
	Result    *tool.Result // only after
}

// questionForm is a Question in JSON.
type questionForm struct {
	Phase     Phase           `json:"phase"`
	CallID    string          `json:"call_id,omitempty"`
	Principal string          `json:"principal,omitempty"`
	Session   string          `json:"session,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Plugin    string          `json:"plugin,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
}

// EncodeQuestion returns the arguments that a filter is called with. It fails where arguments or result hold what is no
// JSON.
func EncodeQuestion(q Question) (json.RawMessage, error) {
	form := questionForm{
		Phase: q.Phase, CallID: q.CallID, Principal: q.Principal, Session: q.Session, Tool: q.Tool, Plugin: q.Plugin,
		Arguments: q.Arguments,
	}
	if q.Result != nil {
		var err error
		if form.Result, err = encodeResult(*q.Result); err != nil {
			return nil, err
		}
	}
	text, err := encode(form)
	if err != nil {
		return nil, fmt.Errorf("encoding a filter's question: %w", err)
	}
	return text, nil
}

// DecodeQuestion reads the arguments that a filter is called with. Members that are not known are of a newer toolhost and
// left out.
func DecodeQuestion(arguments json.RawMessage) (Question, error) {
	var form questionForm
	if err := json.Unmarshal(arguments, &form); err != nil {
		return Question{}, fmt.Errorf("decoding a filter's question: %w", err)
	}
	if form.Phase != Before && form.Phase != After {
		return Question{}, fmt.Errorf("decoding a filter's question: the phase %q is neither %q nor %q", form.Phase, Before, After)
	}
	q := Question{
		Phase: form.Phase, CallID: form.CallID, Principal: form.Principal, Session: form.Session, Tool: form.Tool, Plugin: form.Plugin,
		Arguments: form.Arguments,
	}
	if form.Result != nil {
		result, err := decodeResult(form.Result)
		if err != nil {
			return Question{}, fmt.Errorf("decoding a filter's question: %w", err)
		}
		q.Result = &result
	}
	return q, nil
}

// encode is json.Marshal without the escapes that only HTML needs.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
