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

	"github.com/toolhost/toolhost/internal/identity"
)

// toolFacts is the type of the variable tool.
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
	// Metadata is the declared metadata, as encoding/json decodes it with UseNumber.
	Metadata map[string]any `cel:"metadata"`
}

// facts holds the variables of expressions for one call. It implements cel.Activation. It is not
// safe for concurrent use.
type facts struct {
	in   Input
	tool toolFacts
	// The cached result of readArguments. It is computed at the first use, because most rules use
	// only the tool.
	arguments any
	context   any // the result of readContext, likewise
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
	case "tenant":
		return identity.TenantOf(f.in.Principal), true
	case "groups":
		return f.in.Groups, true
	case "via":
		return f.in.Via, true
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

// readArguments returns a map as encoding/json decodes it with UseNumber, or an error as a CEL
// value.
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

// readContext returns a map whose values are as encoding/json decodes them with UseNumber, or an
// error as a CEL value.
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

// readMetadata returns the declared metadata. It omits a value that is not JSON, so that a rule
// that needs the value cannot be evaluated and denies the call.
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

// decode decodes a text that is exactly one JSON value.
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

// decoded converts values that encoding/json decoded with UseNumber to CEL values, part by part as
// an expression uses them. A rule that uses one argument does not cost a pass over all of them.
// CEL's own adapter converts other values.
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

// number returns a whole number as a CEL int, or as a uint if it is too large, and any other number
// as a double. Only the value counts: 10, 10.0 and 1e1 are equal. CEL compares the three types by
// value.
func number(text string) ref.Val {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Int(n)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return types.Uint(n)
	}
	f, _ := strconv.ParseFloat(text, 64) // infinite if it is out of range, which compares correctly
	const exact = 1 << 53                // up to here, a double represents every whole number
	if math.Abs(f) < exact && f == math.Trunc(f) {
		return types.Int(int64(f))
	}
	return types.Double(f)
}
