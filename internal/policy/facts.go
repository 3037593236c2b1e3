package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// toolFacts is what expressions may say about a tool, by what it declares.
type toolFacts struct {
	Name       string   `cel:"name"`
	Plugin     string   `cel:"plugin"`
	Category   string   `cel:"category"`
	Version    string   `cel:"version"`
	Tags       []string `cel:"tags"`
	Dangerous  bool     `cel:"dangerous"`
	ReadOnly   bool     `cel:"read_only"`
	Idempotent bool     `cel:"idempotent"`
	CostPerUse float64  `cel:"cost_per_use"`
}

// facts is what expressions speak of, for one call. It implements cel.Activation.
type facts struct {
	in        Input
	tool      toolFacts
	arguments func() ref.Val // reads them at first use: most rules look at the tool alone
	context   func() ref.Val // likewise
}

func newFacts(in Input) *facts {
	return &facts{
		in: in,
		tool: toolFacts{
			Name: in.Tool.Name, Plugin: in.Plugin, Category: in.Tool.Category, Version: in.Tool.Version, Tags: in.Tool.Tags,
			Dangerous: in.Tool.Dangerous, ReadOnly: in.Tool.ReadOnly, Idempotent: in.Tool.Idempotent, CostPerUse: in.Tool.CostPerUse,
		},
		arguments: sync.OnceValue(func() ref.Val { return readArguments(in) }),
		context:   sync.OnceValue(func() ref.Val { return readContext(in) }),
	}
}

// ResolveName implements cel.Activation.
func (f *facts) ResolveName(name string) (any, bool) {
	switch name {
	case "principal":
		return f.in.Principal, true
	case "session":
		return f.in.Session, true
	case "call_id":
		return f.in.CallID, true
	case "context":
		return f.context(), true
	case "tool":
		return f.tool, true
	case "arguments":
		return f.arguments(), true
	}
	return nil, false
}

// Parent implements cel.Activation.
func (f *facts) Parent() cel.Activation { return nil }

// readArguments returns a map, or an error as a value of CEL.
func readArguments(in Input) ref.Val {
	if in.Object != nil {
		return types.NewStringInterfaceMap(types.DefaultTypeAdapter, numbers(in.Object).(map[string]any))
	}
	text := in.Arguments
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	var object map[string]any
	if err := decode(text, &object); err != nil {
		return types.WrapErr(fmt.Errorf("reading the arguments: %w", err))
	}
	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, numbers(object).(map[string]any))
}

// readContext returns a map, or an error as a value of CEL.
func readContext(in Input) ref.Val {
	values := make(map[string]any, len(in.Context))
	for key, text := range in.Context {
		var value any
		if err := decode(text, &value); err != nil {
			return types.WrapErr(fmt.Errorf("reading the context: the value of %q: %w", key, err))
		}
		values[key] = numbers(value)
	}
	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, values)
}

// decode reads a text that is one JSON value and nothing else.
func decode(text json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the value")
	}
	return nil
}

// numbers returns value with numbers that CEL computes with in the place of those of JSON, in depth.
func numbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, part := range value {
			out[key] = numbers(part)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, part := range value {
			out[i] = numbers(part)
		}
		return out
	case json.Number:
		return number(value.String())
	}
	return value
}

// number returns a whole number as CEL's int, or uint if it is too large for that, and any other, or one that is larger
// still, as a double. What counts is the value: 10, 10.0 and 1e1 are the same. CEL compares all three kinds by value.
func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range it is infinite, which compares as it should
	const exact = 1 << 53                // up to here a double is the whole number that was written
	if math.Abs(f) < exact && f == math.Trunc(f) {
		return int64(f)
	}
	return f
}
