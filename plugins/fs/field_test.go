package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFieldFiles runs files from bug reports about other products. A step is a call: it edits,
// reads, globs or greps. Says are parts of its answer, and Not are no parts of it.
func TestFieldFiles(t *testing.T) {
	data, err := os.ReadFile("testdata/field/files.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Source, Input, Right string
		Files, Links         map[string]string // a content that begins with hex: is one of bytes
		Edit                 *editInput
		Read                 *readInput
		Glob                 *globInput
		Grep                 *grepInput
		Says, Not            []string
		After                string // of the file that was edited
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Source+" "+c.Input, func(t *testing.T) {
			w, _ := newWorkspace(t)
			for name, content := range c.Files {
				put(t, filepath.Join(w.dir, name), bytesOf(t, content))
			}
			for name, target := range c.Links {
				put(t, filepath.Join(w.dir, filepath.Dir(name), "beside"), "")
				link(t, target, filepath.Join(w.dir, name))
			}
			var got string
			var err error
			switch {
			case c.Edit != nil:
				got, err = editFile(t.Context(), newLanes(), w, *c.Edit)
			case c.Read != nil:
				got, err = read(t, w, *c.Read)
			case c.Glob != nil:
				got, err = globFiles(t.Context(), w, *c.Glob)
			case c.Grep != nil:
				got, err = grep(t.Context(), w, *c.Grep)
			}
			if err != nil {
				got = err.Error()
			}
			for _, part := range c.Says {
				if !strings.Contains(got, part) {
					t.Errorf("%s There is no %q in %q", c.Right, part, clip(got))
				}
			}
			for _, part := range c.Not {
				if strings.Contains(got, part) {
					t.Errorf("%s %q is in %q", c.Right, part, clip(got))
				}
			}
			if c.Edit == nil {
				return
			}
			after, err := os.ReadFile(filepath.Join(w.dir, c.Edit.Path))
			if want := bytesOf(t, c.After); err != nil || string(after) != want {
				t.Errorf("%s The file holds %q, %v, want %q; the answer is %q", c.Right, after, err, want, got)
			}
		})
	}
}

func bytesOf(t *testing.T, content string) string {
	t.Helper()
	digits, found := strings.CutPrefix(content, "hex:")
	if !found {
		return content
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
