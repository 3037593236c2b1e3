package yamldoc_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// FuzzParse checks that any text is read, or refused with an error that begins with the name of the
// file, by Parse, by each method of the Nodes and by a Decoder.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "# nothing\n", "a: [b, {c: 1.5}]\nd: |\n x\n", "a: 1\na: 2\n", "a: &x [1]\nb: *x\n", "? [a]\n: b\n", "a: !!binary aGk=\n", "- - - -\n",
		"--- a\n--- b\n", "a: {b: c", "\"\\uD83D\": 'it''s'\n", "a: 0x10\nb: 1_000\nc: .5\nd: 512MiB\ne: yes\n", "<<: {a: b}\n", "\t", "a:\r\n  b\x00\n", "0%\t!",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "%!") {
			return // errors show the text, and checkError would take it for a wrong format
		}
		root, err := yamldoc.Parse("f.yaml", []byte(text))
		checkError(t, err)
		if err == nil {
			readAll(t, root, 0)
		}
		var all everyType
		d := yamldoc.NewDecoder("f.yaml")
		d.Decode([]byte(text), reflect.ValueOf(&all).Elem())
		for _, err := range d.Errs {
			checkError(t, err)
			if strings.ContainsRune(err.Error(), '\n') && !strings.Contains(err.Message, "not YAML") {
				t.Errorf("%q is not one line", err)
			}
		}
		if n := all.Number; n != 0 && (n < 2 || n > 9) {
			t.Errorf("%d is not from 2 to 9", n)
		}
		if len(d.Errs) == 0 && all.JSON != nil && !json.Valid(all.JSON) {
			t.Errorf("%q is not JSON", all.JSON)
		}
		at := d.Inside(d.At["a"], all.Text, 1, 3)
		if at.Line < 0 || at.Column < 0 {
			t.Errorf("the place is %v", at)
		}
	})
}

// everyType has a field of each type that a Decoder decodes.
type everyType struct {
	Text     string               `yaml:"a"`
	Path     string               `yaml:"path" is:"path" unset:"none"`
	Choice   string               `yaml:"b" oneof:"b,c" unset:"none"`
	Number   int                  `yaml:"c" min:"2" max:"9" unset:"none"`
	Float    float64              `yaml:"d" unset:"none"`
	Bool     bool                 `yaml:"e" unset:"none"`
	Size     yamldoc.Size         `yaml:"f" unset:"none"`
	Duration time.Duration        `yaml:"g" unset:"none"`
	List     []string             `yaml:"h" is:"text"`
	Names    map[string]string    `yaml:"i" keys:"name"`
	Nested   *everyType           `yaml:"j"`
	Structs  []struct{ X string } `yaml:"k" is:"struct"`
	JSON     json.RawMessage      `yaml:"l"`
}

// readAll reads a value in every way that a Node offers.
func readAll(t *testing.T, n yamldoc.Node, depth int) {
	t.Helper()
	if depth > 200 {
		t.Fatal("the values are nested without end")
	}
	_, err := n.Text("x")
	checkError(t, err)
	value, err := n.JSON("x")
	checkError(t, err)
	if err == nil && !json.Valid(value) {
		t.Errorf("%q is not JSON", value)
	}
	items, err := n.Items("x")
	checkError(t, err)
	for _, item := range items {
		readAll(t, item, depth+1)
	}
	entries, err := n.Entries("x")
	checkError(t, err)
	for _, e := range entries {
		checkError(t, e.Errorf("wrong"))
		readAll(t, e.Value, depth+1)
	}
}

// wrongFormat matches what fmt writes for a wrong format. A value in the message may have %! alone.
var wrongFormat = regexp.MustCompile(`%![a-z]?\(`)

func checkError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if message := err.Error(); !strings.HasPrefix(message, "f.yaml:") || wrongFormat.MatchString(message) {
		t.Errorf("the error is %q", message)
	}
}
