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

// checkedLog returns the record with what is no JSON in its attributes quoted.
func checkedLog(record tool.LogRecord) tool.LogRecord {
	for key, value := range record.Attributes {
		checked, ok := checkedJSON(value)
		if !ok {
			checked, _ = json.Marshal(validText(string(value))) // a string always marshals
		}
		record.Attributes[key] = checked
	}
	return record
}
