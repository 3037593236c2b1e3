package scripted_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model/scripted"
)

// The tables of docs/scripted-model.md have exactly the keys and functions of scripts, and the
// scripts on the page are valid.
func TestThePageDescribesTheFormat(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/scripted-model.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)").FindAllStringSubmatch(string(page), -1) {
		described[row[1]] = false
	}
	allowed := regexp.MustCompile(`(?:allowed are|may only call) ([a-z_, and]+)`)
	for _, script := range []string{
		"nothing: 1", "turns: [{nothing: 1}]", "turns: [{calls: [{nothing: 1}]}]", "turns: [{error: {nothing: 1}}]",
		"tasks: [{nothing: 1}]",
		"turns: [{text: '{{if prompt}}a{{end}}'}]",
	} {
		_, err := scripted.Parse("s.yaml", []byte(script))
		found := allowed.FindStringSubmatch(fmt.Sprint(err))
		if found == nil {
			t.Fatalf("%s: %v", script, err)
		}
		for _, key := range strings.FieldsFunc(strings.ReplaceAll(found[1], " and ", ", "), func(r rune) bool { return r == ',' || r == ' ' }) {
			if _, ok := described[key]; !ok {
				t.Errorf("the page does not describe %q", key)
			}
			described[key] = true
		}
	}
	for key, known := range described {
		if !known {
			t.Errorf("the page describes %q, which no script may have", key)
		}
	}
	scripts := regexp.MustCompile("(?s)```yaml[^\n]*\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	for _, script := range scripts {
		if _, err := scripted.Parse("page", []byte(script[1])); err != nil {
			t.Errorf("%v in\n%s", err, script[1])
		}
	}
	if len(scripts) < 2 {
		t.Errorf("the page has %d scripts", len(scripts))
	}
}
