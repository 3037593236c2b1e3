package filterjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// Answer is what a filter returns. At most one field is set; the zero value changes nothing.
type Answer struct {
	Arguments json.RawMessage // before: an object that replaces the arguments
	Deny      *string         // before: the reason why the call is not allowed
	Answer    *tool.Result    // before: ends the call without calling the tool
	Result    *tool.Result    // after: replaces the result
}

// The JSON members of an answer.
const (
	memberArguments = "arguments"
	memberDeny      = "deny"
	memberAnswer    = "answer"
	memberResult    = "result"
)

// members returns the members that are allowed in a phase.
func members(phase Phase) []string {
	if phase == After {
		return []string{memberResult}
	}
	return []string{memberArguments, memberDeny, memberAnswer}
}

// EncodeAnswer returns the result of the filter's call. It fails if the answer contains invalid
// JSON.
func EncodeAnswer(a Answer) (tool.Result, error) {
	form := map[string]any{}
	if a.Arguments != nil {
		form[memberArguments] = a.Arguments
	}
	if a.Deny != nil {
		form[memberDeny] = *a.Deny
	}
	for member, result := range map[string]*tool.Result{memberAnswer: a.Answer, memberResult: a.Result} {
		if result == nil {
			continue
		}
		text, err := encodeResult(*result)
		if err != nil {
			return tool.Result{}, err
		}
		form[member] = text
	}
	if len(form) == 0 {
		return tool.Result{}, nil
	}
	text, err := encode(form)
	if err != nil {
		return tool.Result{}, fmt.Errorf("encoding a filter's answer: %w", err)
	}
	return tool.Result{Content: []tool.Content{tool.JSON(text)}}, nil
}

// DecodeAnswer decodes the result of the filter's call. It fails for everything that the contract
// does not allow in the phase, and for a result with IsError, because a misunderstood filter must
// not count as one that agrees.
func DecodeAnswer(phase Phase, result tool.Result) (Answer, error) {
	if result.IsError {
		return Answer{}, errors.New(clip(result.Text(), maxQuote))
	}
	if len(result.Content) == 0 {
		return Answer{}, nil
	}
	if kind := result.Content[0].Kind; kind != tool.ContentJSON {
		return Answer{}, fmt.Errorf("it answered with %s, not with a block of JSON", kind)
	}
	var form map[string]json.RawMessage
	if err := json.Unmarshal(result.Content[0].JSON, &form); err != nil || form == nil {
		return Answer{}, errors.New("its answer is no JSON object")
	}
	if len(form) > 1 {
		return Answer{}, fmt.Errorf("its answer has %d members; one is allowed", len(form))
	}
	for member, value := range form {
		if !slices.Contains(members(phase), member) {
			return Answer{}, fmt.Errorf("its answer has the member %q; %s the call it may have %s", clip(member, 80), phase, strings.Join(members(phase), ", "))
		}
		return decodeMember(member, value)
	}
	return Answer{}, nil
}

func decodeMember(member string, value json.RawMessage) (Answer, error) {
	var a Answer
	switch member {
	case memberArguments:
		if !bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n"), []byte("{")) {
			return a, errors.New("the arguments in its answer are no object")
		}
		a.Arguments = value
	case memberDeny:
		var reason *string
		if err := json.Unmarshal(value, &reason); err != nil || reason == nil {
			return a, errors.New("the reason in its answer is no string")
		}
		a.Deny = reason
	default:
		result, err := decodeResult(value)
		if err != nil {
			return a, fmt.Errorf("the result in its answer cannot be used: %w", err)
		}
		if member == memberAnswer {
			a.Answer = &result
		} else {
			a.Result = &result
		}
	}
	return a, nil
}

// withoutReserved returns metadata without the keys that are reserved for toolhost.
func withoutReserved(metadata map[string]json.RawMessage) map[string]json.RawMessage {
	metadata = maps.Clone(metadata)
	maps.DeleteFunc(metadata, func(key string, _ json.RawMessage) bool { return strings.HasPrefix(key, tool.ReservedPrefix) })
	return metadata
}

// maxQuote limits how much of a filter's output an error message quotes.
const maxQuote = 500

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// encodeResult returns a result as ProtoJSON, without reserved metadata.
func encodeResult(r tool.Result) (json.RawMessage, error) {
	r.Metadata = withoutReserved(r.Metadata)
	if err := checkResult(&r); err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	text, err := protojson.Marshal(toolpb.FromResult(r))
	if err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	return text, nil
}

func decodeResult(text json.RawMessage) (tool.Result, error) {
	var message toolv1.Result
	if err := protojson.Unmarshal(text, &message); err != nil {
		return tool.Result{}, fmt.Errorf("decoding a result: %w", err)
	}
	r := toolpb.ToResult(&message)
	if err := checkResult(&r); err != nil {
		return tool.Result{}, fmt.Errorf("decoding a result: %w", err)
	}
	return r, nil
}

// checkResult returns an error for a result that violates what readers of results rely on.
func checkResult(r *tool.Result) error {
	for i := range r.Content {
		switch block := &r.Content[i]; {
		case block.Kind == "":
			return fmt.Errorf("block %d is empty", i+1)
		case block.Kind == tool.ContentJSON && !isJSON(block.JSON):
			return fmt.Errorf("block %d is no JSON", i+1)
		}
	}
	for i, effect := range r.Effects {
		if !isJSON(effect.Value) {
			return fmt.Errorf("the value of effect %d is no JSON", i+1)
		}
	}
	for key, value := range r.Metadata {
		if !isJSON(value) {
			return fmt.Errorf("the metadata %q is no JSON", clip(key, 80))
		}
	}
	return nil
}

func isJSON(value json.RawMessage) bool { return json.Valid(value) && utf8.Valid(value) }
