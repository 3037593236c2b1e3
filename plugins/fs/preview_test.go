package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

// previewed returns the diff that a tool shows for arguments, and ends the call without executing
// it.
func previewed(t *testing.T, h *sdktest.Host, w onDisk, name, arguments string) string {
	t.Helper()
	s := h.Stream(name, sdktest.WithWorkspace(w.dir))
	cut := len(arguments) / 2
	s.Append(arguments[:cut]) // nothing is shown for a part
	s.Append(arguments[cut:])
	var shown struct{ Diff string }
	s.WaitStatus(func(status tool.Status) bool { return json.Unmarshal(status.Result, &shown) == nil && shown.Diff != "" })
	s.Cancel()
	if ended := s.Wait(); len(ended.Statuses) > 3 {
		t.Errorf("%s reported %d statuses for one preview: %+v", name, len(ended.Statuses), ended.Statuses)
	}
	return shown.Diff
}

func TestPreviews(t *testing.T) {
	w, outside := newWorkspace(t)
	put(t, filepath.Join(w.dir, "a.txt"), "one\ntwo\nthree\n")
	put(t, filepath.Join(w.dir, "crlf.txt"), "one\r\ntwo\r\n")
	put(t, filepath.Join(w.dir, "latin.txt"), "caf\xe9\n")
	put(t, filepath.Join(w.dir, "binary"), "\x7fELF\x00\x01")
	put(t, filepath.Join(w.dir, "wide.txt"), strings.Repeat("w", 2000)+"\n")
	put(t, filepath.Join(w.dir, "large.txt"), strings.Repeat("a line\n", 200_000))
	put(t, filepath.Join(w.dir, "long.txt"), strings.Repeat("x\n", 20_000))
	link(t, filepath.Join(outside, "secret.txt"), filepath.Join(w.dir, "link.txt"))
	before := snapshot(t, w.dir)
	h := sdktest.NewOverWire(t, plugin())
	for _, test := range []struct {
		tool, arguments string
		want            []string
	}{
		{"edit_file", `{"path":"a.txt","edits":[{"old_text":"two","new_text":"2"}]}`, []string{"--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"}},
		{"edit_file", `{"path":"a.txt","edits":[{"old_text":"three\n","new_text":"3"}]}`, []string{"-three\n+3\n\\ No newline at end of file\n"}},
		{"edit_file", `{"path":"crlf.txt","edits":[{"old_text":"one\ntwo","new_text":"1\n2"}]}`, []string{"-one\r\n", "+1\r\n"}},
		{"edit_file", `{"path":"latin.txt","edits":[{"old_text":"café","new_text":"CAFÉ"}]}`, []string{"-café\n+CAFÉ\n"}},
		{"edit_file", `{"path":"a.txt","edits":[{"old_text":"four","new_text":"4"}]}`, []string{"the call would fail as the files are now: ", "occurs 0 times"}},
		{"edit_file", `{"path":"none.txt","edits":[{"old_text":"x","new_text":"y"}]}`, []string{"the call would fail", `there is no "none.txt"`}},
		{"edit_file", `{"path":"../secret.txt","edits":[{"old_text":"a","new_text":"b"}]}`, []string{"the call would fail", "leads out of the workspace"}},
		{"edit_file", `{"path":"long.txt","edits":[{"old_text":"x","new_text":"y","replace_all":true}]}`, []string{"-x\n", " more lines)\n"}},
		{"write_file", `{"path":"new/b.txt","content":"one\n"}`, []string{"--- /dev/null\n+++ new/b.txt\n@@ -0,0 +1,1 @@\n+one\n"}},
		{"write_file", `{"path":"a.txt","content":"one\ntwo\nthree\nfour\n"}`, []string{"--- a.txt\n+++ a.txt\n@@ -1,3 +1,4 @@\n one\n two\n three\n+four\n"}},
		{"write_file", `{"path":"a.txt","content":"one\ntwo\nthree\n"}`, []string{"(no line changes)"}},
		{"write_file", `{"path":"e.txt","content":""}`, []string{"--- /dev/null\n+++ e.txt\n(an empty file)\n"}},
		{"write_file", `{"path":"latin.txt","content":"tea\n"}`, []string{"the encoding changes from Windows-1252", "-café\n+tea\n"}},
		{"write_file", `{"path":"binary","content":"text\n"}`, []string{"is no text but application/", "of 6 bytes", "+text\n"}},
		{"write_file", `{"path":"large.txt","content":"x\n"}`, []string{"the file has 1400000 bytes; its present content is not shown", "+x\n"}},
		{"write_file", `{"path":"wide.txt","content":"short\n"}`, []string{"… and 1601 more bytes\n+short\n"}},
		{"write_file", `{"path":"sub","content":"x"}`, []string{"the call would fail", "is a folder"}},
		{"write_file", `{"path":"link.txt","content":"x"}`, []string{"the call would fail", "leads out"}},
		{"write_file", `{"path":"x\n+++ y","content":"x"}`, []string{`+++ "x\n+++ y"`}},
		{"write_file", `{"path":"long2.txt","content":"` + strings.Repeat(`y\n`, 300_000) + `"}`, []string{"+y\n", " more lines)\n"}},
		{"write_file", `{"path":"long2.txt","content":"` + strings.Repeat(`y\n`, 600_000) + `"}`, []string{"0 bytes before and 1200000 after: too much to compare"}},
	} {
		got := previewed(t, h, w, test.tool, test.arguments)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %.80s shows %.600q, want %q in it", test.tool, test.arguments, got, want)
			}
		}
		if len(got) > 32<<10 {
			t.Errorf("%s %.80s shows %d bytes", test.tool, test.arguments, len(got))
		}
		if strings.Contains(got, "a secret") {
			t.Errorf("%s %.80s shows a file outside of the workspace: %q", test.tool, test.arguments, got)
		}
	}
	if after := snapshot(t, w.dir); after != before {
		t.Errorf("previews have changed the workspace:\n%s\nwas\n%s", after, before)
	}
}

// snapshot describes the names, the modes and the sizes of a folder.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A preview that is followed by the rest of the call does not disturb the call.
func TestPreviewedCallsAreExecutedOnce(t *testing.T) {
	w, _ := newWorkspace(t)
	h := sdktest.NewOverWire(t, plugin())
	s := h.Stream("edit_file", sdktest.WithWorkspace(w.dir))
	s.Append(`{"path":"hello.txt","edits":[{"old_text":"hello","new_text":"hello hello"}]}`)
	s.WaitStatus(func(status tool.Status) bool { return len(status.Result) > 0 })
	s.Complete(nil)
	if got := s.Wait(); got.IsError || got.Err != nil {
		t.Fatalf("got %q, %v", got.Text(), got.Err)
	}
	if data, err := os.ReadFile(filepath.Join(w.dir, "hello.txt")); err != nil || string(data) != "hello hello\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}
