// Package yamldoctest has the tests that all configuration files share: it writes the reference of a
// file from the structs that define it, and checks what a parser accepts.
package yamldoctest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/yamldoc"
)

// Reference describes a configuration file. Sources and Of must be set.
type Reference struct {
	// Sources are the Go files that define the structs. The comments of their fields are the
	// documentation.
	Sources []string
	// Of is the struct of the whole file.
	Of reflect.Type
	// Also returns text that follows the key in the title of its section. nil adds nothing.
	Also func(key string) string
}

// Write returns the tables of all keys. It fails the test for a field without a comment, and for a
// field whose tags do not say what happens without the key.
func (r Reference) Write(t *testing.T) string {
	t.Helper()
	w := &writer{t: t, comments: comments(t, r.Sources), also: r.Also}
	if w.also == nil {
		w.also = func(string) string { return "" }
	}
	w.section(r.Of, "", "The keys of the file", false)
	return w.String()
}

type writer struct {
	strings.Builder
	t        *testing.T
	comments map[string]string // by "Struct.Field"
	also     func(key string) string
}

// section writes the table of a struct, then the tables of the structs in it. restart says that a
// change of any key needs a restart.
func (w *writer) section(of reflect.Type, parent, title string, restart bool) {
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
		if restart || field.Tag.Get("restart") != "" {
			meaning += " **restart**"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", field.Tag.Get("yaml"), meaning, value, without)
	}
	w.WriteByte('\n')
	for i := range of.NumField() {
		field := of.Field(i)
		name := strings.TrimPrefix(parent+"."+field.Tag.Get("yaml"), ".")
		title := "`" + name + "`" + w.also(name)
		restart := restart || field.Tag.Get("restart") != ""
		switch kind := field.Type.Kind(); {
		case kind == reflect.Struct:
			w.section(field.Type, name, title, restart)
		case (kind == reflect.Slice || kind == reflect.Map && w.also(name) == "") && field.Type.Elem().Kind() == reflect.Struct:
			w.section(field.Type.Elem(), name, "Each of "+title, restart)
		}
	}
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
