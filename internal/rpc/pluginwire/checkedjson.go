package pluginwire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/toolhost/toolhost/tool"
)

// checkedJSON returns a value that a plugin says is JSON, and whether it is: one that is not would make whatever holds
// it unencodable. Go's parser lets strings hold what is no UTF-8; that is replaced.
func checkedJSON(value json.RawMessage) (json.RawMessage, bool) {
	switch {
	case !json.Valid(value):
		return nil, false
	case !utf8.Valid(value):
		return bytes.ToValidUTF8(value, []byte("\uFFFD")), true
	default:
		return value, true
	}
}

// checkedObject is checkedJSON for what must be an object.
func checkedObject(value json.RawMessage) (json.RawMessage, bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n"), []byte("{")) {
		return nil, false
	}
	return checkedJSON(value)
}

// quoteOthers makes values that are no JSON strings.
func quoteOthers(values map[string]json.RawMessage) {
	for key, value := range values {
		checked, ok := checkedJSON(value)
		if !ok {
			checked, _ = json.Marshal(validText(string(value))) // a string always marshals
		}
		values[key] = checked
	}
}

// checkSpec makes the parts of a declaration that nobody else looks into harmless: examples that are no JSON object
// are left out, metadata that is no JSON becomes strings. Schemas are for whoever compiles them.
func checkSpec(spec *tool.Spec) {
	quoteOthers(spec.Metadata)
	kept := spec.InputExamples[:0]
	for _, example := range spec.InputExamples {
		if arguments, ok := checkedObject(example.Arguments); ok {
			example.Arguments = arguments
			kept = append(kept, example)
		}
	}
	spec.InputExamples = kept
}
