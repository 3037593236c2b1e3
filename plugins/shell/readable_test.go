package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
)

// A model gets the text that a reader of a terminal would see. What is left out is said.
func TestReadable(t *testing.T) {
	const lines, marked = "[NUL bytes separate its records; each is shown as \"\\n\".]", "[NUL bytes separate its records; each is shown as \"␀\\n\".]"
	left := func(n string) string {
		return "[" + n + ` texts that carriage returns or backspaces overwrote are left out; 2>&1 | tr '\r\b' '\n\n' shows them.]`
	}
	for name, test := range map[string]struct{ output, shown, note string }{
		"find -print0":           {"./a b\x00./ü\x00", "./a b\n./ü\n", lines},
		"records with lines":     {"a\nb\x00c\x00", "a\nb␀\nc␀\n", marked},
		"git log -z":             {"a\nb\x00c\x00d", "a\nb␀\nc␀\nd", marked},
		"empty records":          {"name=x\x00\x00y=z\x00", "name=x\n\ny=z\n", lines},
		"curl":                   {"  0  10\r 50  10\r100  10\n", "100  10\n", left("2")},
		"pip, erased at the end": {"10%\r\x1b[K50%\r\x1b[K\nInstalled\n", "\x1b[K50%\nInstalled\n", left("1")},
		"git, two bars":          {"Counting: 1%\rCounting: 100%, done.\nWriting: 5%\rWriting: 100%\n", "Counting: 100%, done.\nWriting: 100%\n", left("2")},
		"no end":                 {"10%\r20%\r", "20%", left("1")},
		"a frame at the start":   {"\rdone\n", "done\n", ""},
		"CR LF":                  {"a\r\nb\r\n", "a\r\nb\r\n", ""},
		"CR CR LF":               {"1%\r2%\r\r\n", "2%\r\n", left("1")},
		"a spinner":              {"work |\b/\b-\b\\\b done\n", "work  done\n", left("4")},
		"man, bold":              {"N\bNA\bA _\bx\n", "NA x\n", ""},
		"both":                   {"1\r2\x00", "2\n", strings.TrimSuffix(lines, ".]") + ". " + left("1")[1:]},
		"ordinary":               {"a\tb\n\x1b[1mc\x1b[0m\n", "a\tb\n\x1b[1mc\x1b[0m\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := []sdk.Content{sdk.Text(test.shown)}
			if test.note != "" {
				want = append(want, sdk.Text(test.note))
			}
			if diff := cmp.Diff(want, content("stdout", []byte(test.output))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Data that is no text stays a file.
func TestRecordsAreText(t *testing.T) {
	for name, data := range map[string]string{
		"an object file":  "\x7fELF\x02\x01\x01\x00abc",
		"UTF-16":          "a\x00b\x00c\x00",
		"not UTF-8":       "abc\x00\xff\xfe",
		"a checkpoint":    "abc\x00\x01\x02",
		"a NUL in a text": "abc\x00def",
		"NULs alone":      "\x00\x00\x00",
	} {
		if got := content("stdout", []byte(data)); len(got) != 1 || got[0].Name != "stdout.bin" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
