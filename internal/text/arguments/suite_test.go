package arguments_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// suite is the folder with the required part of the official JSON-Schema-Test-Suite. Its SOURCE.md
// gives the origin of each file.
const suite = "testdata/suite"

// skipped are the cases of the suite with a known different result, with the reason, by
// "draft/file/group/test". There are none.
var skipped = map[string]string{}

// suiteGroup is one schema of the suite, and the values to validate by it.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        any
		Valid       bool
	}
}

// remotes serves the documents that the suite expects at http://localhost:1234.
type remotes struct{}

func (remotes) Load(url string) (any, error) {
	name, ok := strings.CutPrefix(url, "http://localhost:1234/")
	if !ok {
		return nil, fmt.Errorf("the suite has no remote %s", url)
	}
	text, err := os.ReadFile(filepath.Join(suite, "remotes", filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// TestOfficialSuite runs the required tests of both drafts through the validation of calls.
func TestOfficialSuite(t *testing.T) {
	used := map[string]bool{}
	for name, draft := range map[string]*jsonschema.Draft{"draft2020-12": jsonschema.Draft2020, "draft7": jsonschema.Draft7} {
		files, err := filepath.Glob(filepath.Join(suite, "tests", name, "*.json"))
		if err != nil || len(files) < 30 {
			t.Fatalf("%d files of %s: %v", len(files), name, err)
		}
		cases := 0
		for _, file := range files {
			base := strings.TrimSuffix(filepath.Base(file), ".json")
			for _, group := range readGroups(t, file) {
				s, err := arguments.CompileDraft(group.Schema, draft, remotes{})
				for _, test := range group.Tests {
					cases++
					key := strings.Join([]string{name, base, group.Description, test.Description}, "/")
					got := err
					if err == nil {
						got = s.Validate(arguments.ParsedValue(test.Data))
					}
					checkCase(t, key, test.Valid, got, used)
				}
			}
		}
		t.Logf("%s: %d cases in %d files", name, cases, len(files))
	}
	for key := range skipped {
		if !used[key] {
			t.Errorf("%s is skipped, but is no case of the suite", key)
		}
	}
}

func readGroups(t *testing.T, file string) []suiteGroup {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var groups []suiteGroup
	if err := dec.Decode(&groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}

// checkCase compares the result of a case with the suite. A skipped case must have another result.
func checkCase(t *testing.T, key string, valid bool, got error, used map[string]bool) {
	t.Helper()
	passed := (got == nil) == valid
	if _, skip := skipped[key]; skip {
		used[key] = true
		if passed {
			t.Errorf("%s passes: it needs no exception any more", key)
		}
		return
	}
	if !passed {
		t.Errorf("%s: valid should be %v, but the error is %v", key, valid, got)
	}
}
