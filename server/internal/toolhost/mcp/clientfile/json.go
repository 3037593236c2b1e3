package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonSyntax is JSON as clients read it: with comments, trailing commas and a byte order mark.
type jsonSyntax struct{}

// mostContainers bounds the objects and arrays of a file. The parser has no bound for their depth,
// and each level takes stack.
const mostContainers = 200_000

// parseJSON parses a text without a byte order mark. Offsets in the result are those of the text.
func parseJSON(text []byte) (hujson.Value, error) {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > mostContainers {
		return hujson.Value{}, fmt.Errorf("it has more than %d objects and arrays", mostContainers)
	}
	return hujson.Parse(append(bytes.Clone(text), '\n')) // a comment may end the file, but not for hujson
}

// Standardize returns JSON as clients read it as JSON of the standard.
func Standardize(text []byte) ([]byte, error) {
	_, text = cutMark(text)
	value, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	value.Standardize()
	return value.Pack(), nil
}

func (jsonSyntax) decode(text []byte) (map[string]any, error) {
	if _, rest := cutMark(text); len(bytes.TrimSpace(rest)) == 0 {
		return map[string]any{}, nil
	}
	text, err := Standardize(text)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a number may be larger than a float64
	var tree map[string]any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) || tree == nil {
		return nil, errors.New("it is no object")
	}
	return tree, nil
}

// document is a parsed text.
type document struct {
	mark string
	text []byte
	root hujson.Value
	layout
}

// layout is how a text is written.
type layout struct {
	end, unit string // what ends a line, and what a level is indented by
	oneLine   bool
}

func readDocument(text []byte) (*document, error) {
	d := &document{}
	d.mark, d.text = cutMark(text)
	d.end, d.unit = lineEnd(d.text), "  "
	if len(bytes.TrimSpace(d.text)) == 0 {
		d.text = []byte("{}" + d.end)
	}
	var err error
	if d.root, err = parseJSON(d.text); err != nil {
		return nil, err
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it is no object")
	}
	if len(root.Members) > 0 {
		first := root.Members[0].Name.StartOffset
		if indent, ok := d.indent(first); ok && indent != "" {
			d.unit = indent
		}
		d.oneLine = !bytes.Contains(d.text[d.root.StartOffset:d.root.EndOffset], []byte("\n"))
	}
	return d, nil
}

// indent returns what is in front of an offset in its line, and whether that is only white space.
func (d *document) indent(offset int) (string, bool) {
	before := d.text[lineStart(d.text, offset):offset]
	rest := bytes.TrimLeft(before, " \t")
	return string(before[:len(before)-len(rest)]), len(rest) == 0
}

// place is a member on the way to an entry.
type place struct {
	parent *hujson.Value
	object *hujson.Object // the value of parent
	index  int            // of the member
}

func (p *place) member() *hujson.ObjectMember { return &p.object.Members[p.index] }

// find returns the members on a path, as far as they exist, and the deepest value. A key that an
// object has twice is an error: clients differ about which one counts.
func (d *document) find(path []string) (places []place, value *hujson.Value, err error) {
	value = &d.root
	for i, key := range path {
		o, ok := value.Value.(*hujson.Object)
		if !ok {
			return nil, nil, fmt.Errorf("%s is no object", strings.Join(path[:i], "."))
		}
		found := -1
		for n, m := range o.Members {
			if m.Name.Value.(hujson.Literal).String() != key {
				continue
			}
			if found >= 0 {
				return nil, nil, fmt.Errorf("it has %s twice", strings.Join(path[:i+1], "."))
			}
			found = n
		}
		if found < 0 {
			return places, value, nil
		}
		places = append(places, place{value, o, found})
		value = &o.Members[found].Value
	}
	return places, value, nil
}

func (jsonSyntax) put(text []byte, path []string, entry object) ([]byte, error) {
	d, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	return d.put(path, entry)
}

func (d *document) put(path []string, value any) ([]byte, error) {
	places, found, err := d.find(path)
	if err != nil {
		return nil, err
	}
	var splices []splice
	if missing := path[len(places):]; len(missing) == 0 {
		indent, _ := d.indent(places[len(places)-1].member().Name.StartOffset)
		splices = []splice{{found.StartOffset, found.EndOffset, d.value(value, indent)}}
	} else {
		for i := len(missing) - 1; i > 0; i-- {
			value = object{{missing[i], value}}
		}
		splices = d.insert(found, member{missing[0], value})
	}
	return append([]byte(d.mark), apply(d.text, splices...)...), nil
}

// insert adds a member at the end of an object.
func (d *document) insert(into *hujson.Value, m member) []splice {
	o := into.Value.(*hujson.Object)
	brace := into.EndOffset - 1
	last := brace // behind the last thing in the object, which may be a comment
	for isSpace(d.text[last-1]) {
		last--
	}
	comma, trailing := []splice(nil), ""
	outer, _ := d.indent(into.StartOffset)
	inner := outer + d.unit
	if n := len(o.Members); n > 0 {
		if value := o.Members[n-1].Value; value.AfterExtra != nil {
			trailing = "," // behind the last member, too
		} else {
			comma = []splice{{value.EndOffset, value.EndOffset, ","}}
		}
		if indent, ok := d.indent(o.Members[0].Name.StartOffset); ok {
			inner = indent
		}
	}
	text := quote(m.key) + ": " + d.value(m.value, inner) + trailing
	switch {
	case !d.oneLine:
		text = d.end + inner + text
		if !bytes.Contains(d.text[last:brace], []byte("\n")) {
			text += d.end + outer
		}
	case len(o.Members) > 0:
		text = " " + text
	}
	return append(comma, splice{last, last, text})
}

// value returns the text of a value whose member is indented.
func (l layout) value(value any, indent string) string {
	o, ok := value.(object)
	if !ok {
		return literal(value)
	}
	members := make([]string, len(o))
	for i, m := range o {
		members[i] = quote(m.key) + ": " + l.value(m.value, indent+l.unit)
	}
	if l.oneLine {
		return "{" + strings.Join(members, ", ") + "}"
	}
	between := l.end + indent + l.unit
	return "{" + between + strings.Join(members, ","+between) + l.end + indent + "}"
}

func (jsonSyntax) update(text []byte, path []string, members object) ([]byte, error) {
	for _, m := range members {
		d, err := readDocument(text)
		if err != nil {
			return nil, err
		}
		if text, err = d.put(append(path[:len(path):len(path)], m.key), m.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func (jsonSyntax) remove(text []byte, path []string) ([]byte, error) {
	d, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	places, _, err := d.find(path)
	if err != nil || len(places) < len(path) {
		return text, err
	}
	p := places[len(places)-1]
	m := p.member()
	from, to := m.Name.StartOffset, m.Value.EndOffset
	var comma []splice
	switch after := to + len(m.Value.AfterExtra); {
	case d.text[after] == ',' && after == to:
		to++
	case d.text[after] == ',': // a comment is in front of it
		comma = []splice{{after, after + 1, ""}}
	case p.index > 0: // the last member, so the comma in front of it goes
		before := p.object.Members[p.index-1].Value
		at := before.EndOffset + len(before.AfterExtra)
		comma = []splice{{at, at + 1, ""}}
	}
	// The line goes with the member, unless there is more in it: that could become part of a
	// comment.
	rest := d.text[to:]
	blank := len(rest) - len(bytes.TrimLeft(rest, " \t\r"))
	if indent, alone := d.indent(from); alone && bytes.HasPrefix(rest[blank:], []byte("\n")) {
		from, to = from-len(indent), to+blank+1
	} else if !alone {
		for ; from > 0 && (d.text[from-1] == ' ' || d.text[from-1] == '\t'); from-- {
		}
	}
	return append([]byte(d.mark), apply(d.text, append(comma, splice{from, to, ""})...)...), nil
}

func (jsonSyntax) render(path []string, entry object) string {
	return quote(path[len(path)-1]) + ": " + layout{end: "\n", unit: "  "}.value(entry, "") + "\n"
}
