// Package yamldoctest has the tests that all configuration files share: it writes the reference of
// a file from the structs that define it, and checks what a parser accepts.
package yamldoctest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Reference describes a configuration file. Sources and Of must be set.
type Reference struct {
	// Sources are the Go files that define the structs. The comments of their fields are the
	// documentation.
	Sources []string
	// Of is the struct of the whole file.
	Of reflect.Type
	// Also returns text that follows the key in the title of its section, or NoTable. nil adds
	// nothing.
	Also func(key string) string
	// Elsewhere has links to the tables of structs that another page has, by the type of the struct.
	Elsewhere map[string]string
}

// NoTable is what Also returns for a mapping whose values another table describes.
const NoTable = "no table"

// Write returns the tables of all keys. A struct that several keys have is described once. Write
// fails the test for a field without a comment, and for a field whose tags do not say what happens
// without the key.
func (r Reference) Write(t *testing.T) string {
	t.Helper()
	w := r.writer(t)
	w.find(r.Of, "", "The keys of the file", false)
	return w.write()
}

// WriteKeys returns the tables of the structs that some keys of the file have.
func (r Reference) WriteKeys(t *testing.T, names ...string) string {
	t.Helper()
	w := r.writer(t)
	w.inside(r.Of, "", false, func(name string) bool { return slices.Contains(names, name) })
	return w.write()
}

func (r Reference) writer(t *testing.T) *writer {
	t.Helper()
	w := &writer{t: t, comments: comments(t, r.Sources), also: r.Also, elsewhere: r.Elsewhere}
	if w.also == nil {
		w.also = func(string) string { return "" }
	}
	return w
}

type writer struct {
	strings.Builder
	t         *testing.T
	comments  map[string]string // by "Struct.Field"
	also      func(key string) string
	elsewhere map[string]string
	sections  []*section // in the order of the page
}

// section is the table of a struct. restart says that a change of any key needs a restart.
type section struct {
	of      reflect.Type
	titles  []string // of all keys that have the struct
	restart bool
}

// find adds the section of a struct, and the sections of the structs in it.
func (w *writer) find(of reflect.Type, parent, title string, restart bool) {
	for _, s := range w.sections {
		if s.of == of && s.restart == restart {
			s.titles = append(s.titles, title)
			return
		}
	}
	w.sections = append(w.sections, &section{of, []string{title}, restart})
	w.inside(of, parent, restart, func(string) bool { return true })
}

// inside adds the sections of the structs in a struct, for the keys that belong.
func (w *writer) inside(of reflect.Type, parent string, restart bool, belongs func(name string) bool) {
	for i := range of.NumField() {
		field := of.Field(i)
		if !belongs(field.Tag.Get("yaml")) {
			continue
		}
		name := strings.TrimPrefix(parent+"."+field.Tag.Get("yaml"), ".")
		title := "`" + name + "`" + w.also(name)
		restart := restart || field.Tag.Get("restart") != ""
		typ, each := described(field.Type)
		switch {
		case typ == nil || w.elsewhere[typ.String()] != "":
		case !each:
			w.find(typ, name, title, restart)
		case w.also(name) != NoTable:
			w.find(typ, name, "Each of "+title, restart)
		}
	}
}

// described returns the struct that a table describes for a field of type t, or nil. each says that
// the field has several.
func described(t reflect.Type) (typ reflect.Type, each bool) {
	switch t.Kind() {
	case reflect.Struct:
		return t, false
	case reflect.Slice, reflect.Map:
		if t.Elem().Kind() == reflect.Struct {
			return t.Elem(), true
		}
	}
	return nil, false
}

func (w *writer) write() string {
	for _, s := range w.sections {
		title := s.titles[0]
		for i, other := range s.titles[1:] {
			with := ", "
			if i == len(s.titles)-2 {
				with = " and "
			}
			title += with + strings.Replace(other, "Each", "each", 1)
		}
		w.table(s.of, title, s.restart)
	}
	return w.String()
}

func (w *writer) table(of reflect.Type, title string, restart bool) {
	fmt.Fprintf(w, "### %s\n\n| key | meaning | value | default |\n| --- | --- | --- | --- |\n", title)
	for i := range of.NumField() {
		field := of.Field(i)
		value, without := yamldoc.Describe(field.Type, field.Tag), "`"+field.Tag.Get("default")+"`"
		switch {
		case field.Type.Kind() == reflect.Struct:
			value, without = "keys, see below", ""
		case field.Tag.Get("unset") != "":
			without = field.Tag.Get("unset")
		case field.Tag.Get("required") != "":
			without = "required"
		case field.Type.Kind() == reflect.Map || field.Type.Kind() == reflect.Slice:
			without = "none"
		case field.Tag.Get("default") == "":
			w.t.Errorf("%s.%s has neither the tag default nor the tag unset", of.Name(), field.Name)
		}
		meaning := w.comment(of, field)
		if instead := field.Tag.Get("deprecated"); instead != "" {
			meaning = "Deprecated: write " + instead + ". " + meaning
		}
		if typ, _ := described(field.Type); typ != nil && w.elsewhere[typ.String()] != "" {
			meaning += " " + w.elsewhere[typ.String()]
			value = strings.Replace(value, "keys, see below", "keys", 1)
		}
		if restart || field.Tag.Get("restart") != "" {
			meaning += " **restart**"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", field.Tag.Get("yaml"), meaning, value, without)
	}
	w.WriteByte('\n')
}

func (w *writer) comment(of reflect.Type, field reflect.StructField) string {
	text := w.comments[of.Name()+"."+field.Name]
	if text == "" {
		w.t.Errorf("%s.%s has no comment", of.Name(), field.Name)
	}
	return text
}

// comments returns the comment of each field of the structs in Go files, on one line.
func comments(t *testing.T, sources []string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		collectComments(file, found)
	}
	return found
}

func collectComments(file *ast.File, found map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			return false
		}
		for _, field := range fields.Fields.List {
			for _, name := range field.Names {
				text := cmp.Or(field.Doc, &ast.CommentGroup{}).Text()
				found[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(text), " ")
			}
		}
		return false
	})
}

// Fresh returns a document with the text between its two markers replaced by a reference.
func Fresh(t *testing.T, now, begin, end, reference string) (fresh string) {
	t.Helper()
	before, rest, begun := strings.Cut(now, begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("the document has lost its markers:\n%s%s", begin, end)
	}
	return before + begin + "\n" + reference + end + after
}
