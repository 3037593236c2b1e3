package yamldoc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// FuzzParse: any text is read to its end or refused in a line that begins with the file's name, and whatever is asked of
// what was read is answered or refused likewise.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "# nothing\n", "a: [b, {c: 1.5}]\nd: |\n x\n", "a: 1\na: 2\n", "a: &x [1]\nb: *x\n", "? [a]\n: b\n", "a: !!binary aGk=\n", "- - - -\n",
		"--- a\n--- b\n", "a: {b: c", "\"\\uD83D\": 'it''s'\n", "a: 0x10\nb: 1_000\nc: .5\nd: 512MiB\ne: yes\n", "<<: {a: b}\n", "\t", "a:\r\n  b\x00\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, err := yamldoc.Document{Name: "f.yaml"}.Parse([]byte(text))
		checkError(t, err)
		if err == nil && !root.IsZero() {
			ask(t, root, 0)
		}
	})
}

// ask asks a value for everything.
func ask(t *testing.T, n yamldoc.Node, depth int) {
	t.Helper()
	if depth > 200 {
		t.Fatal("the values are nested without end")
	}
	_, err := n.Text("x")
	checkError(t, err)
	_, err = n.Texts("x")
	checkError(t, err)
	_, err = n.Choice("x", "a", "b")
	checkError(t, err)
	_, err = n.Bool("x")
	checkError(t, err)
	if whole, err := n.Whole("x", -5, 5); err == nil && (whole < -5 || whole > 5) {
		t.Errorf("%d is not from -5 to 5", whole)
	}
	if number, err := n.Number("x", 5); err == nil && !(number > 0 && number <= 5) {
		t.Errorf("%v is not above 0 and at most 5", number)
	}
	if size, err := n.Bytes("x"); err == nil && size <= 0 {
		t.Errorf("the size is %d", size)
	}
	value, err := n.JSON("x")
	checkError(t, err)
	if err == nil && !json.Valid(value) {
		t.Errorf("%q is not JSON", value)
	}
	items, err := n.Items("x")
	checkError(t, err)
	for _, item := range items {
		ask(t, item, depth+1)
	}
	fields, err := n.Fields("x")
	checkError(t, err)
	for _, field := range fields {
		checkError(t, field.Errorf("wrong"))
		ask(t, field.Value, depth+1)
	}
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if words := err.Error(); !strings.HasPrefix(words, "f.yaml:") || strings.Contains(words, "%!") {
		t.Errorf("the error is %q", words)
	}
}
