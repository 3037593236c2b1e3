package config_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/settings"
)

const (
	document = "../../docs/configuration.md"
	begin    = "<!-- Generated from internal/config/settings.go: go test ./internal/config -update -->\n"
	end      = "<!-- End of what is generated. -->\n"
)

// TestDocumentationIsFresh fails if docs/configuration.md does not say what settings.go does. Run it with -update to
// rewrite the part between the markers.
func TestDocumentationIsFresh(t *testing.T) {
	now, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(now), begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has lost its markers:\n%s%s", document, begin, end)
	}
	want := before + begin + "\n" + reference(t) + end + after
	if string(now) == want {
		return
	}
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is stale: run go test ./internal/config -update", document)
}

// reference returns the tables of all keys, and the defaults as a file.
func reference(t *testing.T) string {
	t.Helper()
	r := &referenceWriter{t: t, comments: comments(t)}
	r.section(reflect.TypeFor[config.Config](), "", "The keys of the file")
	c := config.Default()
	fmt.Fprintf(r, "### All defaults\n\n`toolhost config show` prints this if there is no file, but for the paths, which it knows.\n\n```yaml\n%s```\n\n", c.YAML())
	return r.String()
}

type referenceWriter struct {
	strings.Builder
	t        *testing.T
	comments map[string]string // by "Struct.Field"
}

// section writes the table of a struct, then those of the structs in it.
func (r *referenceWriter) section(of reflect.Type, parent, title string) {
	fmt.Fprintf(r, "### %s\n\n| key | meaning | value | default |\n| --- | --- | --- | --- |\n", title)
	for i := range of.NumField() {
		field := of.Field(i)
		value, without := settings.Describe(field.Type, field.Tag), "`"+field.Tag.Get("default")+"`"
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
			r.t.Errorf("%s.%s has neither a default nor a word for what holds without it", of.Name(), field.Name)
		}
		fmt.Fprintf(r, "| `%s` | %s | %s | %s |\n", field.Tag.Get("yaml"), r.comment(of, field), value, without)
	}
	r.WriteByte('\n')
	for i := range of.NumField() {
		field := of.Field(i)
		name := strings.TrimPrefix(parent+"."+field.Tag.Get("yaml"), ".")
		title := "`" + name + "`"
		if field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct {
			r.section(field.Type.Elem(), name, "Each of "+title)
		}
		if field.Type == reflect.TypeFor[map[string]config.ToolSettings]() || field.Type == reflect.TypeFor[map[string]config.Secret]() {
			r.section(field.Type.Elem(), name, "Each of "+title)
		}
		if field.Type.Kind() != reflect.Struct {
			continue
		}
		if strings.HasPrefix(name, "defaults") {
			title += " and `" + strings.Replace(name, "defaults", "plugin.NAME", 1) + "`"
		}
		r.section(field.Type, name, title)
	}
}

func (r *referenceWriter) comment(of reflect.Type, field reflect.StructField) string {
	text := r.comments[of.Name()+"."+field.Name]
	if text == "" {
		r.t.Errorf("%s.%s has no comment", of.Name(), field.Name)
	}
	return text
}

// comments returns the comment of each field of settings.go on one line.
func comments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "settings.go", nil, parser.ParseComments)
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

// TestDocumentedFilesLoad shows that every file in docs/configuration.md can be used as it is.
func TestDocumentedFilesLoad(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	if len(blocks) < 2 {
		t.Fatalf("%d files are documented", len(blocks))
	}
	for _, block := range blocks {
		file, _, _ := strings.Cut(block, "```")
		if _, err := config.Parse(document, []byte(file)); err != nil {
			t.Errorf("%v in\n%s", err, file)
		}
	}
}
