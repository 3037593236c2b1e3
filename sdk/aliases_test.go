package sdk_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
)

// The comments of the structs that an author fills name each field and its type, because go doc
// shows no fields of an alias.
func TestAliasesAreDocumented(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range []string{"aliases.go", "settle.go"} {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/toolhost/toolhost/sdk")
	if err != nil {
		t.Fatal(err)
	}
	asWritten := strings.NewReplacer("tool.Artifact", "tool.Artifact", "tool.", "", "uint8", "byte") // Artifact has no alias
	for name, typ := range map[string]reflect.Type{
		"Spec": reflect.TypeFor[sdk.Spec](), "Permissions": reflect.TypeFor[sdk.Permissions](), "InputExample": reflect.TypeFor[sdk.InputExample](),
		"RetryPolicy": reflect.TypeFor[sdk.RetryPolicy](), "Result": reflect.TypeFor[sdk.Result](), "Content": reflect.TypeFor[sdk.Content](),
		"Effect": reflect.TypeFor[sdk.Effect](), "Usage": reflect.TypeFor[sdk.Usage](), "Status": reflect.TypeFor[sdk.Status](),
		"Progress": reflect.TypeFor[sdk.Progress](), "Settlement": reflect.TypeFor[sdk.Settlement](),
	} {
		documented := commentOf(p, name)
		for _, field := range reflect.VisibleFields(typ) {
			written := asWritten.Replace(field.Type.String())
			row := regexp.MustCompile(`\n\t` + field.Name + ` +` + regexp.QuoteMeta(written) + ` `)
			if !row.MatchString(documented) {
				t.Errorf("the comment of sdk.%s has no row for its field %s %s: add one", name, field.Name, written)
			}
		}
	}
}

// commentOf returns the comment of an alias, which may stand in a group.
func commentOf(p *doc.Package, name string) string {
	for _, typ := range p.Types {
		for _, spec := range typ.Decl.Specs {
			s, ok := spec.(*ast.TypeSpec)
			switch {
			case !ok || s.Name.Name != name:
			case s.Doc != nil:
				return s.Doc.Text()
			default:
				return typ.Doc
			}
		}
	}
	return ""
}
