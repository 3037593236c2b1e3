package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

var formats = []tool.Format{
	tool.FormatOpenAI, tool.FormatOpenAIResponses, tool.FormatAnthropic, tool.FormatGemini, tool.FormatMCP, tool.FormatMarkdown,
}

// catalogue returns the tools of testdata/catalogue.json.
func catalogue(t testing.TB) []tool.Info {
	t.Helper()
	data, err := os.ReadFile("testdata/catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	var infos []tool.Info
	if err := json.Unmarshal(data, &infos); err != nil {
		t.Fatal(err)
	}
	return infos
}

func rendered(t testing.TB, format tool.Format, infos ...tool.Info) tool.Rendered {
	t.Helper()
	r, err := render.Tools(format, infos)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// spec returns a tool with an input schema.
func spec(schema string) tool.Info {
	return tool.Info{Spec: tool.Spec{Name: "t", Description: "Does it.", InputSchema: json.RawMessage(schema)}}
}

// TestGolden compares each format with a file. The flag -update writes the files.
func TestGolden(t *testing.T) {
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			r := rendered(t, format, catalogue(t)...)
			got, file := r.Content, string(format)+".md"
			if format != tool.FormatMarkdown {
				file = string(format) + ".json"
				got = indented(t, r.Content)
			}
			file = filepath.Join("testdata", "golden", file)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-golden +now):\n%s", diff)
			}
		})
	}
}

// indented returns indented JSON with the order of members and the text of values unchanged.
func indented(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

func TestNoTools(t *testing.T) {
	for format, want := range map[tool.Format]string{
		tool.FormatOpenAI: "[]", tool.FormatOpenAIResponses: "[]", tool.FormatAnthropic: "[]", tool.FormatGemini: "[]",
		tool.FormatMCP: `{"tools":[]}`, tool.FormatMarkdown: "",
	} {
		if r := rendered(t, format); string(r.Content) != want || len(r.Tools) != 0 || r.MediaType == "" {
			t.Errorf("%s: %q %v %q", format, r.Content, r.Tools, r.MediaType)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	for _, format := range []tool.Format{"", "OpenAI", "yaml"} {
		if _, err := render.Tools(format, nil); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%q: %v", format, err)
		}
	}
}

// TestOmittedTools checks which tools each format holds, and that it gives the reason for each tool
// that it omits.
func TestOmittedTools(t *testing.T) {
	for _, format := range formats {
		want, omitted := []string{"any_object", "book_meeting", "draw", "find_place", "now", "remove_files", "translate"}, []tool.OmittedTool(nil)
		if format == tool.FormatAnthropic {
			want, omitted = want[:6], []tool.OmittedTool{{
				Name:   "translate",
				Reason: `the API of Anthropic refuses the parameter name "größe": it accepts 1 to 64 of the characters A-Z a-z 0-9 _ . -`,
			}}
		}
		r := rendered(t, format, catalogue(t)...)
		if diff := cmp.Diff(want, r.Tools); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
		if diff := cmp.Diff(omitted, r.Omitted); diff != "" {
			t.Errorf("%s omits (-want +got):\n%s", format, diff)
		}
	}
}

func TestEqualToolsGiveEqualBytes(t *testing.T) {
	for _, format := range formats {
		if a, b := rendered(t, format, catalogue(t)...), rendered(t, format, catalogue(t)...); !bytes.Equal(a.Content, b.Content) {
			t.Errorf("%s differs from time to time", format)
		}
	}
}

// TestNamesFitEveryAPI checks that tool.CheckName is at least as strict as the strictest API.
func TestNamesFitEveryAPI(t *testing.T) {
	for _, name := range []string{"a.b", "a b", "ä", "", "1a", "a/b", string(bytes.Repeat([]byte("a"), 65))} {
		if tool.CheckName(name) == nil {
			t.Errorf("%q may be the name of a tool, and an API refuses it", name)
		}
	}
}
