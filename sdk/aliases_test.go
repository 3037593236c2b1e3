package sdk_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
)

// The comment of sdk.Spec documents each field, because go doc shows no fields of an alias.
func TestSpecIsDocumented(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "aliases.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p, err := doc.NewFromFiles(fset, []*ast.File{file}, "github.com/toolhost/toolhost/sdk")
	if err != nil {
		t.Fatal(err)
	}
	documented := ""
	for _, typ := range p.Types {
		if typ.Name == "Spec" {
			documented = typ.Doc
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[sdk.Spec]()) {
		if !strings.Contains(documented, "\n\t"+field.Name+" ") {
			t.Errorf("the comment of sdk.Spec says nothing of its field %s: add a line in aliases.go", field.Name)
		}
	}
}
