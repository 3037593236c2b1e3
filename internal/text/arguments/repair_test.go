package arguments_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// readTable returns the rows of testdata/repair.tsv: a schema, a value, and the repaired value.
func readTable(t testing.TB) [][3]string {
	t.Helper()
	data, err := os.ReadFile("testdata/repair.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][3]string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 {
			t.Fatalf("the row %q has not three parts", line)
		}
		rows = append(rows, [3]string{strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2])})
	}
	return rows
}

// depths are the places in arguments at which a value of the table is tested.
var depths = []struct{ name, schema, value, path string }{
	{"a property", `{"properties":{"v":%s}}`, `{"v":%s}`, "v"},
	{"an item", `{"properties":{"list":{"items":%s}}}`, `{"list":[%s]}`, "list[0]"},
	{"a property of a property", `{"properties":{"a":{"properties":{"v":%s}}}}`, `{"a":{"v":%s}}`, "a.v"},
	{"behind a reference", `{"properties":{"a":{"prefixItems":[{"$ref":"#/$defs/d"}]}},"$defs":{"d":{"additionalProperties":%s}}}`,
		`{"a":[{"v":%s}]}`, "a[0].v"},
	{"within alternatives", `{"anyOf":[{"type":"null"},{"allOf":[{"properties":{"a":{"oneOf":[{"type":"null"},{"type":"object","patternProperties":{"^v$":%s}}]}}}]}]}`,
		`{"a":{"v":%s}}`, "a.v"},
}

func compile(t testing.TB, schema string) *arguments.Schema {
	t.Helper()
	s, err := arguments.Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatalf("compiling %s: %v", schema, err)
	}
	return s
}

func parsed(t testing.TB, text string) arguments.Parsed {
	t.Helper()
	p, err := arguments.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	return p
}

// TestRepairTable checks the repair of each value by each schema, at every place.
func TestRepairTable(t *testing.T) {
	rows := readTable(t)
	if len(rows) < 60 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, depth := range depths {
		t.Run(depth.name, func(t *testing.T) {
			for _, row := range rows {
				s := compile(t, fmt.Sprintf(depth.schema, row[0]))
				p := parsed(t, fmt.Sprintf(depth.value, row[1]))
				got, repairs := s.Repair(p)
				want := p
				if row[2] != "=" {
					want = parsed(t, fmt.Sprintf(depth.value, row[2]))
				}
				if depth.name == "within alternatives" && s.Validate(want) != nil {
					want = p // no alternative accepts a value that cannot be repaired
				}
				if string(got.Canonical()) != string(want.Canonical()) {
					t.Errorf("%s by %s became %s, want %s", row[1], row[0], got.Canonical(), want.Canonical())
				}
				if changed := string(got.Canonical()) != string(p.Canonical()); changed != (len(repairs) > 0) {
					t.Errorf("%s by %s: listed is %v", row[1], row[0], repairs)
				}
				for _, repair := range repairs {
					if !strings.HasPrefix(repair.Path, depth.path) || repair.Why == "" {
						t.Errorf("%s by %s: listed is %+v", row[1], row[0], repair)
					}
				}
				checkLaws(t, s, p)
			}
		})
	}
}

// checkLaws checks the invariants of every repair.
func checkLaws(t testing.TB, s *arguments.Schema, p arguments.Parsed) {
	t.Helper()
	before := string(p.Canonical())
	once, repairs := s.Repair(p)
	if slowly, also := s.Thorough().Repair(p); string(slowly.Canonical()) != string(once.Canonical()) || len(also) != len(repairs) {
		t.Errorf("%s was settled quickly, but by thorough repair became %s", before, slowly.Canonical())
	}
	if quickly, slowly := s.Validate(p), s.Thorough().Validate(p); (quickly == nil) != (slowly == nil) {
		t.Errorf("%s quickly gave %v, thoroughly %v", before, quickly, slowly)
	}
	if again, _ := s.Repair(p); string(again.Canonical()) != string(once.Canonical()) {
		t.Errorf("%s became %s, then %s", before, once.Canonical(), again.Canonical())
	}
	if s.Validate(p) == nil && s.Validate(once) != nil {
		t.Errorf("%s fits, but became %s", before, once.Canonical())
	}
	if twice, more := s.Repair(once); string(twice.Canonical()) != string(once.Canonical()) || len(more) != 0 {
		t.Errorf("%s became %s, and by a second repair %s: %+v", before, once.Canonical(), twice.Canonical(), more)
	}
	if len(repairs) == 0 && string(once.Canonical()) != before {
		t.Errorf("%s became %s without a word", before, once.Canonical())
	}
	if reread := parsed(t, string(once.Canonical())); string(reread.Canonical()) != string(once.Canonical()) {
		t.Errorf("%s is not canonical", once.Canonical())
	}
}

// TestRepairsAreListed checks that the list gives the path, the given value and the new value of
// each repair.
func TestRepairsAreListed(t *testing.T) {
	s := compile(t, `{"properties":{
		"days":{"type":"integer","maximum":14}, "wet":{"type":"boolean"}, "scale":{"type":"number"}, "n":{"type":"integer"},
		"note":{"type":"string"}, "units":{"type":"string","default":"metric"}, "mode":{"type":"string","default":"a"},
		"places":{"items":{"properties":{"rank":{"type":"integer","default":1}}}},
		"edits":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer"}},"required":["line"]}}}}`)
	p := parsed(t, `{"days":"99","wet":"Yes","scale":"1.5","n":7.0,"note":null,"mode":null,"places":[{"rank":2},{}],"edits":{"line":"3"}}`)
	got, repairs := s.Repair(p)
	want := []arguments.Repair{
		{Path: "days", From: []byte(`"99"`), To: []byte(`14`), Why: "it was out of bounds"},
		{Path: "edits", From: []byte(`{"line":"3"}`), To: []byte(`[{"line":3}]`), Why: "it was one object, where the schema says array of objects"},
		{Path: "edits[0].line", From: []byte(`"3"`), To: []byte(`3`), Why: "it was a string that holds a number, where the schema says number or integer"},
		{Path: "mode", From: []byte(`null`), To: []byte(`"a"`), Why: "it cannot be null and has a default"},
		{Path: "n", From: []byte(`7.0`), To: []byte(`7`), Why: "the schema says integer"},
		{Path: "note", From: []byte(`null`), Why: "it is optional and cannot be null"},
		{Path: "places[1].rank", To: []byte(`1`), Why: "it was missing and has a default"},
		{Path: "scale", From: []byte(`"1.5"`), To: []byte(`1.5`), Why: "it was a string that holds a number, where the schema says number or integer"},
		{Path: "units", To: []byte(`"metric"`), Why: "it was missing and has a default"},
		{Path: "wet", From: []byte(`"Yes"`), To: []byte(`true`), Why: "the schema says boolean"},
	}
	if diff := cmp.Diff(want, repairs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.Validate(got); err != nil {
		t.Error(err)
	}
}

// TestRepairOfOlderSchemas checks that tuples are repaired by items of draft-07 and by prefixItems
// of 2020-12.
func TestRepairOfOlderSchemas(t *testing.T) {
	s := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{
		"pair":{"items":[{"type":"integer"}],"additionalItems":{"type":"boolean"}}, "all":{"items":{"type":"integer"}}}}`)
	got, _ := s.Repair(parsed(t, `{"pair":["1","1"],"all":["1"]}`))
	if want := `{"all":[1],"pair":[1,true]}`; string(got.Canonical()) != want {
		t.Errorf("got %s, want %s", got.Canonical(), want)
	}
}

// TestManyRepairs checks that the number of listed repairs is bounded and the number of repairs is
// not.
func TestManyRepairs(t *testing.T) {
	s := compile(t, `{"properties":{"list":{"items":{"type":"integer"}}}}`)
	got, repairs := s.Repair(parsed(t, `{"list":["1"`+strings.Repeat(`,"1"`, 149)+`]}`))
	if want := `{"list":[1` + strings.Repeat(`,1`, 149) + `]}`; string(got.Canonical()) != want {
		t.Errorf("got %s", got.Canonical())
	}
	if len(repairs) != 101 || repairs[100].Why != "and 50 more" {
		t.Errorf("got %d repairs, the last %+v", len(repairs), repairs[len(repairs)-1])
	}
}
