package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/sdk/workspace"
)

func TestEditFile(t *testing.T) {
	tests := map[string]struct {
		content string
		edits   []editPart
		want    string
		answer  string
	}{
		"one change": {"one\ntwo\nthree\n", []editPart{{OldText: "two", NewText: "2"}}, "one\n2\nthree\n", `changed "f": 1 replacement, from line 2 on`},
		"several": {"one\ntwo\n", []editPart{{OldText: "o", NewText: "0", ReplaceAll: true}, {OldText: "tw0\n"}}, "0ne\n",
			"changed \"f\":\nedit 1: 2 replacements, from lines 1, 2 on\nedit 2: 1 replacement, from line 2 on"},
		"many":         {strings.Repeat("x\n", 20), []editPart{{OldText: "x", NewText: "y", ReplaceAll: true}}, strings.Repeat("y\n", 20), `changed "f": 20 replacements, from lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and further ones on`},
		"CRLF":         {"one\r\ntwo\r\n", []editPart{{OldText: "one\ntwo\n", NewText: "1\n2\n"}}, "1\r\n2\r\n", `changed "f": 1 replacement, from line 1 on`},
		"no final end": {"one\ntwo", []editPart{{OldText: "two", NewText: "2"}}, "one\n2", `changed "f": 1 replacement, from line 2 on`},
		"a mark":       {"\xef\xbb\xbfone\n", []editPart{{OldText: "one", NewText: "1"}}, "\xef\xbb\xbf1\n", `changed "f": 1 replacement, from line 1 on`},
		"UTF-16":       {"\xff\xfea\x00\n\x00b\x00", []editPart{{OldText: "a\nb", NewText: "ä"}}, "\xff\xfe\xe4\x00", `changed "f": 1 replacement, from line 1 on`},
		"Windows-1252": {"caf\xe9 5\n", []editPart{{OldText: "café 5", NewText: "café 5 €"}}, "caf\xe9 5 \x80\n", `changed "f": 1 replacement, from line 1 on`},
		"late faults":  {strings.Repeat("text\n", 4000) + "caf\xe9 x", []editPart{{OldText: "x", NewText: "y", ReplaceAll: true}, {OldText: " y", NewText: "z"}}, strings.Repeat("teyt\n", 4000) + "caf\xe9z", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorkspace(t)
			put(t, filepath.Join(w.dir, "f"), test.content)
			if err := os.Chmod(filepath.Join(w.dir, "f"), 0o740); err != nil {
				t.Fatal(err)
			}
			answer, err := editFile(t.Context(), newLanes(), w, editInput{Path: "f", Edits: test.edits})
			if err != nil || test.answer != "" && answer != test.answer {
				t.Errorf("got %q, %v; want %q", answer, err, test.answer)
			}
			if content, err := os.ReadFile(filepath.Join(w.dir, "f")); err != nil || string(content) != test.want {
				t.Errorf("the file holds %q, %v; want %q", clip(string(content)), err, clip(test.want))
			}
			if info, err := os.Stat(filepath.Join(w.dir, "f")); err != nil || info.Mode() != 0o740 {
				t.Errorf("the mode is %v, %v", info.Mode(), err)
			}
			noLeftovers(t, w)
		})
	}
}

// A refused edit leaves the file unchanged.
func TestEditFileRefuses(t *testing.T) {
	tests := map[string]struct {
		content string
		edits   []editPart
		parts   []string
	}{
		"not there":            {"hello\n", []editPart{{OldText: "hallo", NewText: "x"}}, []string{`"f" was not changed`, "occurs 0 times", "     1: hello"}},
		"twice":                {"x x\n", []editPart{{OldText: "x", NewText: "y"}}, []string{"occurs 2 times, from lines 1, 1 on", "replace_all"}},
		"the last of three":    {"a b c", []editPart{{OldText: "a", NewText: "1"}, {OldText: "b", NewText: "2"}, {OldText: "d", NewText: "3"}}, []string{"edit 3 of 3", "none of the edits was made"}},
		"binary":               {"\x7fELF\x00", []editPart{{OldText: "E", NewText: "x"}}, []string{"no text but application/octet-stream"}},
		"not in the encoding":  {"caf\xe9\n", []editPart{{OldText: "caf", NewText: "日本"}}, []string{"Windows-1252", "characters that it lacks"}},
		"no text in UTF-16":    {"\xff\xfe\x00\xd8a\x00", []editPart{{OldText: "a", NewText: "b"}}, []string{"bytes in it that are no text"}},
		"larger than the most": {strings.Repeat("x", maxEdited+1), []editPart{{OldText: "y", NewText: "b"}}, []string{"at most 16 MiB"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorkspace(t)
			put(t, filepath.Join(w.dir, "f"), test.content)
			_, err := editFile(t.Context(), newLanes(), w, editInput{Path: "f", Edits: test.edits})
			holds(t, err, test.parts...)
			if content, err := os.ReadFile(filepath.Join(w.dir, "f")); err != nil || string(content) != test.content {
				t.Errorf("the file holds %q, %v", clip(string(content)), err)
			}
		})
	}
	w, _ := newWorkspace(t)
	for path, words := range map[string]string{"missing": `there is no "missing"`, "sub": "is a folder", "../secret.txt": "leads out"} {
		_, err := editFile(t.Context(), newLanes(), w, editInput{Path: path, Edits: []editPart{{OldText: "a", NewText: "b"}}})
		holds(t, err, words)
	}
}

// Edits of one turn run concurrently. None is lost, whichever process makes them.
func TestEditsAtTheSameTimeAreAllMade(t *testing.T) {
	for name, lanesOf := range map[string]func() func() *lanes{
		"one process":       func() func() *lanes { l := newLanes(); return func() *lanes { return l } },
		"several processes": func() func() *lanes { return newLanes },
	} {
		t.Run(name, func(t *testing.T) {
			const edits = 5 // fewer than attempts, so that each edit succeeds in any order
			content := ""
			for i := range edits {
				content += fmt.Sprintf("<%d>\n", i)
			}
			w := workspace.NewMemory(map[string]workspace.MemoryFile{"f": {Content: content}})
			choose := lanesOf()
			var all sync.WaitGroup
			for i := range edits {
				l := choose()
				all.Go(func() {
					in := editInput{Path: "f", Edits: []editPart{{OldText: fmt.Sprintf("<%d>", i), NewText: fmt.Sprintf("edit %d", i)}}}
					if _, err := editFile(t.Context(), l, w, in); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			got, _, err := readWhole(t.Context(), w, "f")
			if err != nil || strings.Contains(string(got), "<") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// restless is a workspace in which another writer changes a file after each read.
type restless struct {
	workspace.Workspace
	times int
}

func (r *restless) Open(ctx context.Context, name string) (workspace.File, error) {
	file, err := r.Workspace.Open(ctx, name)
	if err == nil && r.times > 0 {
		r.times--
		_, err = r.WriteFile(ctx, name, fmt.Appendf(nil, "x written %d", r.times), workspace.WriteOptions{})
	}
	return file, err
}

func TestEditFileBeginsAgainWhenTheFileChanged(t *testing.T) {
	for times, want := range map[int]string{1: "y written 0", maxAttempts - 1: "y written 0", maxAttempts: ""} {
		w := &restless{Workspace: workspace.NewMemory(map[string]workspace.MemoryFile{"f": {Content: "x"}}), times: times}
		_, err := editFile(t.Context(), newLanes(), w, editInput{Path: "f", Edits: []editPart{{OldText: "x", NewText: "y"}}})
		if want == "" {
			if !errors.Is(err, workspace.ErrChanged) {
				t.Errorf("%d times: got %v", times, err)
			}
			continue
		}
		got, _, readErr := readWhole(t.Context(), w, "f")
		if err != nil || readErr != nil || string(got) != want {
			t.Errorf("%d times: got %q, %v, %v; want %q", times, got, err, readErr, want)
		}
	}
}

func TestLanesAreLeftAndCanBeGivenUp(t *testing.T) {
	l := newLanes()
	leave, err := l.enter(t.Context(), "/ws", "f")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.enter(ctx, "/ws", "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("a lane that is taken: got %v", err)
	}
	leave()
	leave, err = l.enter(t.Context(), "/ws", "f")
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
