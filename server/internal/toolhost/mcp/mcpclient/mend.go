package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK decodes a list of the server as a whole: one tool with a description that is a number
// refuses every tool of the server. So both transports give each answer to mend before the SDK gets
// it. mend takes out the smallest parts that do not have the types of the protocol: a field if
// possible, else the element of the list. It puts what it took out into the result's _meta, under
// metaMended, from where the reader of the list takes it.

// metaMended is the key of what mend took out of a result: a list of texts.
const metaMended = "toolhost/mended"

const maxMended = 20 // texts about one result

// mended are the results that mend handles, by the method of their request.
var mended = map[string]func() any{
	"initialize":               func() any { return new(mcp.InitializeResult) },
	"server/discover":          func() any { return new(mcp.DiscoverResult) },
	"tools/list":               func() any { return new(mcp.ListToolsResult) },
	"prompts/list":             func() any { return new(mcp.ListPromptsResult) },
	"resources/list":           func() any { return new(mcp.ListResourcesResult) },
	"resources/templates/list": func() any { return new(mcp.ListResourceTemplatesResult) },
}

// metaStructured is the key of the structured content of a large result, as JSON text.
const metaStructured = "toolhost/structured"

// largeResult is the size from which flatten changes a result.
const largeResult = 256 << 10

// flatten makes the structured content of a large result a text in its _meta, which replaces what
// the server has there. The SDK would decode both, and a value can take a hundred times the memory
// of its JSON.
func flatten(result json.RawMessage) json.RawMessage {
	if len(result) < largeResult {
		return result
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(result, &members) != nil || members == nil {
		return result // the SDK says what it is
	}
	delete(members, "_meta")
	if structured := members["structuredContent"]; structured != nil && string(structured) != "null" {
		delete(members, "structuredContent")
		members["_meta"] = encoded(map[string]string{metaStructured: string(structured)})
	}
	return encoded(members)
}

// mend makes the answer to a request of a method one that the SDK can decode.
func mend(method string, answer *jsonrpc.Response) {
	if method == "tools/call" && answer.Error == nil {
		answer.Result = flatten(answer.Result)
		return
	}
	into, ok := mended[method]
	if !ok || answer.Error != nil {
		return
	}
	decode := func(text json.RawMessage) error { return json.Unmarshal(text, into()) }
	answer.Result = bytes.TrimSpace(answer.Result)
	if len(answer.Result) == 0 || decode(answer.Result) == nil && !bytes.Contains(answer.Result, []byte(metaMended)) {
		return
	}
	m := &mender{}
	result, _ := m.mend(answer.Result, "", decode)
	var members map[string]json.RawMessage
	if json.Unmarshal(result, &members) != nil || members == nil {
		return // the SDK says what it is
	}
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(members["_meta"], &meta) // what is no object was taken out
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[metaMended] = encoded(m.notes)
	members["_meta"] = encoded(meta)
	answer.Result = encoded(members)
}

// encoded returns the JSON of a value that can be encoded.
func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// mendedIn returns what mend took out of a result.
func mendedIn(meta mcp.Meta) []string {
	var notes []string
	list, _ := meta[metaMended].([]any)
	for _, note := range list {
		if text, ok := note.(string); ok {
			notes = append(notes, text)
		}
	}
	return notes
}

// mender collects what it took out.
type mender struct {
	notes []string
}

func (m *mender) notef(format string, args ...any) {
	if len(m.notes) < maxMended {
		m.notes = append(m.notes, oneLine(clip(fmt.Sprintf(format, args...), maxLabel*2)))
	}
}

// mend returns a value without its parts that decode refuses. ok is false if nothing of it is left.
// where is the place of the value, as in tools[2].annotations.
func (m *mender) mend(text json.RawMessage, where string, decode func(json.RawMessage) error) (_ json.RawMessage, ok bool) {
	if decode(text) == nil {
		return text, true
	}
	var members map[string]json.RawMessage
	var items []json.RawMessage
	switch {
	case text[0] == '{' && decode(json.RawMessage("{}")) == nil && json.Unmarshal(text, &members) == nil:
		for _, name := range slices.Sorted(maps.Keys(members)) {
			alone := func(value json.RawMessage) error { return decode(encoded(map[string]json.RawMessage{name: value})) }
			if value, ok := m.mend(members[name], strings.TrimPrefix(where+"."+name, "."), alone); ok {
				members[name] = value
			} else {
				delete(members, name)
			}
		}
		text = encoded(members)
	case text[0] == '[' && decode(json.RawMessage("[]")) == nil && json.Unmarshal(text, &items) == nil:
		kept := []json.RawMessage{}
		for i, item := range items {
			alone := func(item json.RawMessage) error { return decode(encoded([]json.RawMessage{item})) }
			if item, ok := m.mend(item, fmt.Sprintf("%s[%d]%s", where, i, named(item)), alone); ok {
				kept = append(kept, item)
			}
		}
		text = encoded(kept)
	}
	if decode(text) == nil {
		return text, true
	}
	m.notef("%s is left out: it is %s", where, kindOf(text))
	return nil, false
}

// named returns the name or address of an element of a list, as (name).
func named(element json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(element, &members) != nil {
		return ""
	}
	for _, key := range []string{"name", "uri", "uriTemplate"} {
		if text, ok := members[key].(string); ok {
			return fmt.Sprintf(" (%s)", clip(text, maxName))
		}
	}
	return ""
}

// kindOf returns what a JSON value is.
func kindOf(text json.RawMessage) string {
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "the number " + clip(string(text), maxName)
	}
}
