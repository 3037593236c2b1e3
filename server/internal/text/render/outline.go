package render

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxDepth bounds the nesting of lists, and of arrays. Deeper parts are shown as JSON.
	maxDepth = 6
	// maxRepeated is the size in bytes up to which the target of a reference is shown each time. A
	// larger target is shown once; otherwise a schema of a few lines could fill the memory.
	maxRepeated = 1 << 10
)

// outline writes a schema as nested lists. It writes keywords that it does not know as JSON, so
// that nothing is lost.
type outline struct {
	root  object
	shown map[string]bool // references whose target has been shown
	about string          // a description of the whole value
	b     strings.Builder
}

// node is a schema that the outline is about to write.
type node struct {
	members object
	depth   int
	name    string // the name that later references use; empty: the target is shown each time
	element *node  // of an array; nil: unknown, or too deep
}

func (o *outline) write(schema json.RawMessage) {
	n := o.enter(schema, 0, 0)
	kind, notes := o.phrase(n)
	if kind != "" && kind != "object" {
		notes = append([]string{kind}, notes...)
	}
	if len(notes) > 0 {
		o.about = " (" + strings.Join(notes, ", ") + ")"
	}
	if text := description(n.members); text != "" {
		o.about += ": " + strings.Join(strings.Fields(text), " ")
	}
	o.below(n)
}

// enter follows references. It keeps a reference whose target has been shown.
func (o *outline) enter(schema json.RawMessage, depth, arrays int) node {
	n := node{depth: depth}
	n.members, _ = parseObject(schema)
	for range maxReferences {
		reference := unquote(n.members.get("$ref"))
		target, ok := resolve(o.root, reference)
		if !ok || o.shown[reference] {
			break
		}
		if len(target.text()) > maxRepeated || slices.ContainsFunc(target, func(m member) bool { return slices.Contains(inner, m.name) }) {
			o.shown[reference], n.name = true, lastStep(reference)
		}
		n.members = n.members.without("$ref")
		for _, m := range target {
			if n.members.get(m.name) == nil {
				n.members = append(n.members, m)
			}
		}
	}
	if items := n.members.get("items"); items != nil && arrays < maxDepth {
		element := o.enter(items, depth, arrays+1)
		n.element = &element
	}
	return n
}

var (
	// inner are the keywords that lead to nested schemas.
	inner = []string{"$ref", "properties", "required", "items", "oneOf", "anyOf", "allOf"}
	// told are other keywords that phrase describes, or that a model does not need.
	told = []string{
		"type", "description", "title", "enum", "const", "default", "format", "additionalProperties",
		"$schema", "$id", "$defs", "definitions", "$comment",
	}
)

// phrase returns the type of a schema's values, and notes on them.
func (o *outline) phrase(n node) (kind string, notes []string) {
	note := func(word string, value json.RawMessage) { notes = append(notes, word+" "+code(string(compact(value)))) }
	if values := elements(n.members.get("enum")); len(values) > 0 {
		notes = append(notes, "one of "+codes(values))
	}
	if value := n.members.get("const"); value != nil {
		note("always", value)
	}
	if value := n.members.get("default"); value != nil {
		note("default", value)
	}
	if format := unquote(n.members.get("format")); format != "" {
		notes = append(notes, "format "+format)
	}
	if names := n.elsewhere(); len(names) > 0 {
		notes = append(notes, "with "+strings.Join(names, ", "))
	}
	more := string(n.members.get("additionalProperties"))
	if more != "" && more != "true" && more != "false" {
		note("other properties", json.RawMessage(more))
	}
	for _, m := range n.members {
		deeper := slices.Contains(inner, m.name)
		switch {
		case m.name == "$ref" || slices.Contains(told, m.name):
		case !deeper, m.name == "items" && n.element == nil, m.name != "items" && n.depth >= maxDepth:
			note(m.name, m.value)
		}
	}
	return o.kind(n), notes
}

func (n node) required() []string {
	var names []string
	for _, name := range elements(n.members.get("required")) {
		names = append(names, unquote(name))
	}
	return names
}

// elsewhere returns the required properties that the schema does not describe. An alternative often
// lists only which properties it requires.
func (n node) elsewhere() []string {
	properties, _ := parseObject(n.members.get("properties"))
	var names []string
	for _, name := range n.required() {
		if properties.get(name) == nil {
			names = append(names, code(name))
		}
	}
	return names
}

// kind returns the type of a value in words.
func (o *outline) kind(n node) string {
	switch reference := unquote(n.members.get("$ref")); {
	case reference == "#":
		return "like the whole"
	case reference != "":
		return code(lastStep(reference)) + " as above"
	}
	declared := n.members.get("type")
	types := elements(declared)
	if unquote(declared) != "" {
		types = []json.RawMessage{declared}
	}
	words := []string{}
	for _, t := range types {
		word := unquote(t)
		if word == "array" && n.element != nil {
			of, notes := o.phrase(*n.element)
			if len(notes) > 0 {
				of = strings.TrimSpace(of + " [" + strings.Join(notes, ", ") + "]")
			}
			if of != "" {
				word += " of " + of
			}
		}
		words = append(words, word)
	}
	kind := strings.Join(words, " or ")
	if n.name != "" {
		kind = strings.TrimSpace(kind + " " + code(n.name))
	}
	return kind
}

// lastStep returns the last token of a reference.
func lastStep(reference string) string { return reference[strings.LastIndexByte(reference, '/')+1:] }

// below writes what a schema contains: its properties, the properties of its elements, and its
// alternatives.
func (o *outline) below(n node) {
	if n.depth >= maxDepth {
		return
	}
	required := n.required()
	properties, _ := parseObject(n.members.get("properties"))
	for _, p := range properties {
		o.item(code(p.name), o.enter(p.value, n.depth+1, 0), slices.Contains(required, p.name))
	}
	if n.element != nil {
		if text := description(n.element.members); text != "" {
			o.line(n.depth, "each element: "+text)
		}
		o.below(*n.element)
	}
	for _, a := range []struct{ keyword, label string }{{"oneOf", "exactly one of:"}, {"anyOf", "one or more of:"}, {"allOf", "all of:"}} {
		alternatives := elements(n.members.get(a.keyword))
		if len(alternatives) > 0 {
			o.line(n.depth, a.label)
		}
		for _, alternative := range alternatives {
			o.item("", o.enter(alternative, n.depth+2, 0), false)
		}
	}
}

// item writes one property or alternative, and what it contains.
func (o *outline) item(label string, n node, needed bool) {
	kind, notes := o.phrase(n)
	if needed {
		notes = append([]string{"required"}, notes...)
	}
	if kind != "" {
		notes = append([]string{kind}, notes...)
	}
	if len(notes) == 0 {
		notes = []string{"any"}
	}
	text := strings.TrimSpace(label + " (" + strings.Join(notes, ", ") + ")")
	if d := description(n.members); d != "" {
		text += ": " + d
	}
	o.line(n.depth-1, text)
	o.below(n)
}

// line writes a list item at a depth, and indents all lines of its text.
func (o *outline) line(depth int, text string) {
	indent := strings.Repeat("  ", depth)
	o.b.WriteString(indent + "- " + strings.ReplaceAll(text, "\n", "\n"+indent+"  ") + "\n")
}

func description(schema object) string {
	text := unquote(schema.get("description"))
	if text == "" {
		text = unquote(schema.get("title"))
	}
	return strings.TrimSpace(text)
}

// elements returns the elements of a JSON array, or none of another value.
func elements(text json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

func codes(values []json.RawMessage) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = code(string(compact(v)))
	}
	return strings.Join(all, ", ")
}
