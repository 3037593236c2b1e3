package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

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
	// Metadata is what the author says besides, as encoding/json decodes it with UseNumber.
	Metadata map[string]any `cel:"metadata"`
}

// facts is what expressions speak of, for one call. It implements cel.Activation, for one goroutine.
type facts struct {
	in        Input
	tool      toolFacts
	arguments any // as readArguments returns them, from their first use on: most rules look at the tool alone
	context   any // likewise
	work      work
}

func newFacts(ctx context.Context, in Input) *facts {
	return &facts{in: in, work: work{ctx: ctx, left: maxSteps}, tool: toolFacts{
		Name: in.Tool.Name, Plugin: in.Plugin, Category: in.Tool.Category, Version: in.Tool.Version, Tags: in.Tool.Tags,
		Dangerous: in.Tool.Dangerous, ReadOnly: in.Tool.ReadOnly, Idempotent: in.Tool.Idempotent, CostPerUse: in.Tool.CostPerUse,
		Metadata: readMetadata(in.Tool.Metadata),
	}}
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
		if f.context == nil {
			f.context = readContext(f.in)
		}
		return f.context, true
	case "tool":
		return &f.tool, true
	case "arguments":
		if f.arguments == nil {
			f.arguments = readArguments(f.in)
		}
		return f.arguments, true
	case workVariable:
		return &f.work, true
	}
	return nil, false
}

// Parent implements cel.Activation.
func (f *facts) Parent() cel.Activation { return nil }

// readArguments returns a map as encoding/json decodes it with UseNumber, or an error as a value of CEL.
func readArguments(in Input) any {
	if in.Object != nil {
		if object := in.Object.Object(); object != nil {
			return object
		}
	}
	text := in.Arguments
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	var object map[string]any
	if err := decode(text, &object); err != nil {
		return types.WrapErr(fmt.Errorf("reading the arguments: %w", err))
	}
	return object
}

// readContext returns a map whose values are as encoding/json decodes them with UseNumber, or an error as a value of CEL.
func readContext(in Input) any {
	values := make(map[string]any, len(in.Context))
	for key, text := range in.Context {
		var value any
		if err := decode(text, &value); err != nil {
			return types.WrapErr(fmt.Errorf("reading the context: the value of %q: %w", key, err))
		}
		values[key] = value
	}
	return values
}

// readMetadata returns what a tool declares besides. A value that is no JSON is left out, so that a rule that needs it cannot be
// evaluated and denies the call.
func readMetadata(declared map[string]json.RawMessage) map[string]any {
	if len(declared) == 0 {
		return nil
	}
	values := make(map[string]any, len(declared))
	for key, text := range declared {
		var value any
		if decode(text, &value) == nil {
			values[key] = value
		}
	}
	return values
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

// decoded makes values of CEL of what encoding/json decodes with UseNumber, part by part as an expression comes to them, so that
// arguments are not gone through for a rule that looks at one of them. What else there is, it leaves to the adapter of CEL's own.
type decoded struct{ types.Adapter }

// NativeToValue implements types.Adapter.
func (d decoded) NativeToValue(value any) ref.Val {
	switch value := value.(type) {
	case json.Number:
		return number(value.String())
	case map[string]any:
		return types.NewStringInterfaceMap(d, value)
	case []any:
		return types.NewDynamicList(d, value)
	}
	return d.Adapter.NativeToValue(value)
}

// number returns a whole number as CEL's int, or uint if it is too large for that, and any other, or one that is larger
// still, as a double. What counts is the value: 10, 10.0 and 1e1 are the same. CEL compares all three kinds by value.
func number(text string) ref.Val {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Int(n)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return types.Uint(n)
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range it is infinite, which compares as it should
	const exact = 1 << 53                // up to here a double is the whole number that was written
	if math.Abs(f) < exact && f == math.Trunc(f) {
		return types.Int(int64(f))
	}
	return types.Double(f)
}
