package render

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxDepth is how deep lists, and arrays of arrays, go. What is deeper is shown as JSON.
	maxDepth = 6
	// maxRepeated is up to how many bytes what is referred to is shown each time; what is larger only the first time, or
	// a schema of a few lines could fill memory.
	maxRepeated = 1 << 10
)

// outline writes a schema as nested lists. Keywords for which it has no words are shown as JSON, so that nothing is lost.
type outline struct {
	root  object
	shown map[string]bool // references
	about string          // what is to be said of the whole
	b     strings.Builder
}

// node is a schema on its way into the outline.
type node struct {
	members object
	depth   int
	name    string // what references to it say; empty: it is shown in full each time
	element *node  // of an array; nil: not known, or too deep
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

// enter follows references. One that was shown stays a reference.
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
	// inner are the keywords of what is below a schema.
	inner = []string{"$ref", "properties", "required", "items", "oneOf", "anyOf", "allOf"}
	// told are the other keywords that have words of their own, or are none of a model's business.
	told = []string{
		"type", "description", "title", "enum", "const", "default", "format", "additionalProperties",
		"$schema", "$id", "$defs", "definitions", "$comment",
	}
)

// phrase returns what kind of value a schema is for, and what else is to be known of it.
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

// elsewhere returns the required properties that the schema itself does not describe: alternatives often only say what
// must be given.
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

// lastStep returns the name of what a reference stands for.
func lastStep(reference string) string { return reference[strings.LastIndexByte(reference, '/')+1:] }

// below writes what a schema holds: properties, those of its elements, and alternatives.
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

// item writes one property or alternative, and what is below it.
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

// line writes a list item at a depth; the lines of its text stay within it.
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

// elements returns the elements of a JSON array, none of anything else.
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
