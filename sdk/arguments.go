package sdk

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolhost/toolhost/sdk/internal/fit"
)

// argumentReader reads argument text, and checks the arguments against a tool's schema. It is
// immutable. The zero value returns the arguments unchanged.
type argumentReader struct {
	compiled fit.Schema
	schema   *jsonschema.Schema // compiled, in the form that complete reads
	defaults bool               // the schema declares a default somewhere
	strict   bool               // the tool gets its arguments unchanged
}

func newArgumentReader(spec *Spec, compile fit.Compile) (*argumentReader, error) {
	compiled, err := compile(spec.InputSchema)
	if err != nil {
		return nil, err
	}
	r := &argumentReader{compiled: compiled, schema: new(jsonschema.Schema), strict: spec.Strict}
	if err := json.Unmarshal(spec.InputSchema, r.schema); err != nil {
		return nil, err
	}
	r.defaults = declaresDefault(r.schema)
	return r, nil
}

// read returns the arguments in canonical form, valid and with defaults. The error is a text for a
// model.
func (r *argumentReader) read(text []byte) (json.RawMessage, error) {
	if r.compiled == nil {
		return whole(text), nil
	}
	canonical, err := r.compiled.Canonical(text)
	if err != nil {
		return nil, err
	}
	// Go only refuses integers that JSON writes with a point or an exponent.
	if !r.strict && (r.defaults || bytes.ContainsAny(canonical, ".eE")) {
		completed, err := r.complete(canonical)
		if err != nil {
			return nil, err
		}
		if canonical, err = r.compiled.Canonical(completed); err != nil {
			return nil, err
		}
	}
	if err := r.compiled.Check(canonical); err != nil {
		return nil, err
	}
	return canonical, nil
}

// whole returns argument text that needs no reading. Empty text means {}.
func whole(text []byte) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	return text
}

func (r *argumentReader) complete(canonical []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return encodeJSON(complete(value, r.schema))
}

// complete adds declared defaults to value, and writes integers such as 3.0 as integers. It visits
// properties, list elements and values of maps. Only the validator handles keywords such as $ref
// and oneOf.
func complete(value any, s *jsonschema.Schema) any {
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case json.Number:
		if isType(s, "integer") {
			return asInteger(v)
		}
	case []any:
		for i := range v {
			v[i] = complete(v[i], s.Items)
		}
	case map[string]any:
		for name, property := range s.Properties {
			if _, has := v[name]; !has && property.Default != nil {
				v[name] = property.Default
			}
		}
		for name, child := range v {
			property, declared := s.Properties[name]
			if !declared {
				property = s.AdditionalProperties
			}
			v[name] = complete(child, property)
		}
	}
	return value
}

// asInteger returns the digits of an integer in another notation, such as 3.0 or 1e3. It returns
// any other number unchanged.
func asInteger(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	// No Go integer needs an exponent above three digits, and its digits would take much memory.
	if i := strings.IndexAny(string(n), "eE"); i >= 0 && len(n)-i > 4 {
		return n
	}
	r, ok := new(big.Rat).SetString(string(n))
	// No Go integer is larger, and five bytes such as 1e999 must not become a thousand digits.
	if !ok || !r.IsInt() || r.Num().BitLen() > 64 {
		return n
	}
	return json.Number(r.Num().String())
}

func declaresDefault(s *jsonschema.Schema) bool {
	if s == nil {
		return false
	}
	for _, property := range s.Properties {
		if property.Default != nil || declaresDefault(property) {
			return true
		}
	}
	return declaresDefault(s.Items) || declaresDefault(s.AdditionalProperties)
}

// encodeJSON returns the JSON form of value. It does not escape characters such as <.
func encodeJSON(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return slices.Clip(bytes.TrimRight(b.Bytes(), "\n")), nil
}
