package filterjson

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// Phase says when toolhost calls a filter.
type Phase string

// The phases.
const (
	Before Phase = "before" // before the call
	After  Phase = "after"  // after the tool has answered
)

// Request is what a filter receives about a call. Empty members are absent in JSON.
type Request struct {
	Phase     Phase
	CallID    string   // the id of the filtered call, not of the filter's call
	Principal string   // the key of the principal that the call is for
	Groups    []string // of the principal
	Via       string   // the key of the delegate; empty: the principal makes the call itself
	Session   string
	Tool      string
	Plugin    string
	Arguments json.RawMessage
	Result    *tool.Result // only in phase After
}

// requestForm is the JSON form of a Request.
type requestForm struct {
	Phase     Phase           `json:"phase"`
	CallID    string          `json:"call_id,omitempty"`
	Principal string          `json:"principal,omitempty"`
	Groups    []string        `json:"groups,omitempty"`
	Via       string          `json:"via,omitempty"`
	Session   string          `json:"session,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Plugin    string          `json:"plugin,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
}

// EncodeRequest returns the arguments of the filter's call. It fails if arguments or result
// contain invalid JSON.
func EncodeRequest(q Request) (json.RawMessage, error) {
	form := requestForm{
		Phase: q.Phase, CallID: q.CallID, Principal: q.Principal, Groups: q.Groups, Via: q.Via, Session: q.Session, Tool: q.Tool, Plugin: q.Plugin,
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

// DecodeRequest decodes the arguments of the filter's call. It ignores unknown members, which
// belong to a newer toolhost.
func DecodeRequest(arguments json.RawMessage) (Request, error) {
	var form requestForm
	if err := json.Unmarshal(arguments, &form); err != nil {
		return Request{}, fmt.Errorf("decoding a filter's question: %w", err)
	}
	if form.Phase != Before && form.Phase != After {
		return Request{}, fmt.Errorf("decoding a filter's question: the phase %q is neither %q nor %q", form.Phase, Before, After)
	}
	q := Request{
		Phase: form.Phase, CallID: form.CallID, Principal: form.Principal, Groups: form.Groups, Via: form.Via, Session: form.Session, Tool: form.Tool, Plugin: form.Plugin,
		Arguments: form.Arguments,
	}
	if form.Result != nil {
		result, err := decodeResult(form.Result)
		if err != nil {
			return Request{}, fmt.Errorf("decoding a filter's question: %w", err)
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
