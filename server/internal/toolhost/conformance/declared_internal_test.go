package conformance

import (
	"encoding/json"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

func TestHandshakes(t *testing.T) {
	dir := shortdir.Make(t)
	for _, name := range []string{"s", "sixteen-bytes-16", "seventeen-bytes-7"} {
		if listener, err := net.Listen("unix", filepath.Join(dir, name)); err == nil {
			defer listener.Close()
		}
	}
	for line, want := range map[string]string{
		"1|1|unix|{dir}/s|grpc":                 "",
		" 1|1|unix|{dir}/s|grpc| ":              "",
		"1|2|unix|{dir}/sixteen-bytes-16|grpc":  "",
		"1|3|unix|{dir}/s|grpc":                 "start.version",
		"1|x|unix|{dir}/s|grpc":                 "start.version",
		"hello":                                 "start.handshake",
		"":                                      "start.handshake",
		"2|1|unix|{dir}/s|grpc":                 "start.fields",
		"1|1|unix|{dir}/s|netrpc":               "start.fields",
		"1|1|unix|{dir}/s":                      "start.fields",
		"1|1|unix|{dir}/s|grpc||":               "start.fields",
		"1|1|unix|{dir}/s|grpc|cert":            "start.tls",
		"1|1|unix|{dir}/none|grpc":              "start.socket",
		"1|1|unix|s|grpc":                       "start.socket",
		"1|1|unix|{dir}/../s|grpc":              "start.socket",
		"1|1|unix|{dir}/seventeen-bytes-7|grpc": "start.socket",
	} {
		known := []int{1}
		if strings.HasPrefix(line, "1|2|") {
			known = []int{1, 2}
		}
		_, found := judgeHandshake(strings.ReplaceAll(line, "{dir}", dir), dir, known)
		var got []string
		for _, p := range found {
			got = append(got, p.check)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: found %q, want %q", line, got, want)
		}
	}
	if _, found := judgeHandshake("1|1|unix|"+dir+"/s|grpc", dir, []int{1, 2}); len(found) != 1 || found[0].check != "start.version" {
		t.Errorf("not the highest version: found %v", found)
	}
}

// TestSamples checks that arguments made from usual schemas fit them.
func TestSamples(t *testing.T) {
	for _, schema := range []string{
		``,
		`{"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string","minLength":9},"b":{"type":"string","maxLength":2}},"required":["a","b"]}`,
		`{"type":"object","properties":{"n":{"type":"integer","minimum":3,"multipleOf":5},"x":{"type":"number","exclusiveMinimum":7}},"required":["n","x"]}`,
		`{"type":"object","properties":{"e":{"enum":["b"]},"c":{"const":4},"z":{"type":["null","boolean"]}},"required":["e","c","z"]}`,
		`{"type":"object","properties":{"l":{"type":"array","minItems":2,"items":{"$ref":"#/$defs/i"}}},"required":["l"],"$defs":{"i":{"type":"object","properties":{"d":{"type":"string","format":"date"}},"required":["d"]}}}`,
		`{"type":"object","properties":{"u":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["u"]}`,
	} {
		compiled, err := arguments.Compile(json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		if made, ok := sample(json.RawMessage(schema)); !ok || !fits(compiled, made) {
			t.Errorf("of %s was made %s", schema, made)
		}
	}
	endless := json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`)
	if _, ok := sample(endless); !ok {
		t.Error("a schema that nothing fits is no failure")
	}
}

func TestAdvice(t *testing.T) {
	good := tool.Spec{
		Name: "get_weather", ReadOnly: true, Description: "Tells the weather at a place. Not for forecasts. Answers with one line.",
		InputSchema:   json.RawMessage(`{"type":"object","properties":{"place":{"type":"string","description":"a city"}}}`),
		InputExamples: []tool.InputExample{{Arguments: json.RawMessage(`{"place":"Riga"}`)}},
	}
	with := func(change func(s *tool.Spec)) tool.Spec {
		s := good
		change(&s)
		return s
	}
	explained := regexp.MustCompile(`"(.|größe)":{`)
	schema := func(properties, more string) tool.Spec {
		return with(func(s *tool.Spec) {
			text := explained.ReplaceAllString(properties, `"$1":{"description":"what is meant",`)
			s.InputSchema = json.RawMessage(strings.ReplaceAll(`{"type":"object","properties":{`+text+`}`+more+`}`, ",}", "}"))
		})
	}
	for name, c := range map[string]struct {
		tools []tool.Spec
		want  []string
	}{
		"good":                 {[]tool.Spec{good}, nil},
		"short":                {[]tool.Spec{with(func(s *tool.Spec) { s.Description = "Tells the weather." })}, []string{"advice.descriptions"}},
		"parameters":           {[]tool.Spec{with(func(s *tool.Spec) { s.InputSchema = json.RawMessage(`{"properties":{"place":{}}}`) })}, []string{"advice.parameters"}},
		"examples":             {[]tool.Spec{with(func(s *tool.Spec) { s.InputExamples = nil })}, []string{"advice.examples"}},
		"no example is needed": {[]tool.Spec{with(func(s *tool.Spec) { s.InputExamples, s.InputSchema = nil, nil })}, nil},
		"dangerous":            {[]tool.Spec{with(func(s *tool.Spec) { s.Name, s.ReadOnly = "deleteFile", false })}, []string{"advice.dangerous"}},
		"declared":             {[]tool.Spec{with(func(s *tool.Spec) { s.Name, s.ReadOnly, s.Dangerous = "delete_file", false, true })}, nil},
		"looks":                {[]tool.Spec{with(func(s *tool.Spec) { s.ReadOnly = false })}, []string{"advice.read_only"}},
		"repeatable":           {[]tool.Spec{with(func(s *tool.Spec) { s.ReadOnly, s.Idempotent = false, true })}, nil},
		"secret": {[]tool.Spec{with(func(s *tool.Spec) {
			s.InputSchema = json.RawMessage(`{"properties":{"api_key":{"description":"of the service"}}}`)
		})}, []string{"advice.secrets"}},
		"default":  {[]tool.Spec{schema(`"n":{"type":"integer","default":"1"}`, "")}, []string{"advice.schemas"}},
		"enum":     {[]tool.Spec{schema(`"n":{"type":"boolean","enum":["True","False"]}`, "")}, []string{"advice.schemas"}},
		"within":   {[]tool.Spec{schema(`"l":{"type":"array","items":{"type":"object","properties":{"n":{"type":"string","default":2}}}}`, "")}, []string{"advice.schemas"}},
		"required": {[]tool.Spec{schema(`"a":{}`, `,"required":["a","b"]`)}, []string{"advice.schemas"}},
		"union":    {[]tool.Spec{schema(`"a":{}`, `,"oneOf":[{"required":["a"]},{"properties":{"b":{}}}]`)}, []string{"advice.schemas"}},
		"name":     {[]tool.Spec{schema(`"größe":{}`, "")}, []string{"advice.schemas"}},
		"referred": {[]tool.Spec{schema(`"n":{"$ref":"#/$defs/n","default":"x"}`, `,"$defs":{"n":{"type":"number"}}`)}, []string{"advice.schemas"}},
		"fitting":  {[]tool.Spec{schema(`"n":{"type":["string","null"],"enum":["a",null],"default":null}`, `,"required":["n"]`)}, nil},
		"alike":    {[]tool.Spec{good, with(func(s *tool.Spec) { s.Name = "show_weather" })}, []string{"advice.similar"}},
		"apart": {[]tool.Spec{good, with(func(s *tool.Spec) {
			s.Name, s.Description = "find_train", "Finds trains between two stations on a day, with their prices and seats."
		})}, nil},
	} {
		x := &adviser{newFindings(), &tool.Description{Name: "p", Version: "1", Tools: c.tools}}
		x.advise()
		var got []string
		for _, check := range x.results(definitions(), "not reached") {
			if check.Status == Advice {
				got = append(got, check.ID)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: advice %q, want %q", name, got, c.want)
		}
	}
}
