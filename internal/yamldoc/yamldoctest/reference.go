// Package yamldoctest writes the reference of a configuration file from the structs that define it.
// Tests use it to keep the documentation current.
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

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// Reference describes a configuration file. Source and Of must be set.
type Reference struct {
	// Source is the Go file that defines the structs. The comments of their fields are the
	// documentation.
	Source string
	// Of is the struct of the whole file.
	Of reflect.Type
	// Also returns what the title of a key's section says after the key. nil adds nothing.
	Also func(key string) string
}

// Write returns the tables of all keys. It fails the test for a field without a comment, and for a
// field whose tags do not say what happens without the key.
func (r Reference) Write(t *testing.T) string {
	t.Helper()
	w := &writer{t: t, comments: comments(t, r.Source), also: r.Also}
	if w.also == nil {
		w.also = func(string) string { return "" }
	}
	w.section(r.Of, "", "The keys of the file")
	return w.String()
}

type writer struct {
	strings.Builder
	t        *testing.T
	comments map[string]string // by "Struct.Field"
	also     func(key string) string
}

// section writes the table of a struct, then the tables of the structs in it.
func (w *writer) section(of reflect.Type, parent, title string) {
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
		fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", field.Tag.Get("yaml"), w.comment(of, field), value, without)
	}
	w.WriteByte('\n')
	for i := range of.NumField() {
		field := of.Field(i)
		name := strings.TrimPrefix(parent+"."+field.Tag.Get("yaml"), ".")
		title := "`" + name + "`" + w.also(name)
		switch kind := field.Type.Kind(); {
		case kind == reflect.Struct:
			w.section(field.Type, name, title)
		case (kind == reflect.Slice || kind == reflect.Map && w.also(name) == "") && field.Type.Elem().Kind() == reflect.Struct:
			w.section(field.Type.Elem(), name, "Each of "+title)
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

// comments returns the comment of each field of the structs in a Go file, on one line.
func comments(t *testing.T, source string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
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
	return found
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
