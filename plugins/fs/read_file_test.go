package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	w, _ := newWorkspace(t)
	long := strings.Repeat("x", maxText)
	files := map[string]string{
		"empty":       "",
		"ten":         lines(1, 10),
		"no-newline":  "one\ntwo",
		"crlf":        "one\r\ntwo\r\n",
		"many":        lines(1, 5000),
		"exact":       long,
		"exact-line":  long[1:] + "\n" + "next\n",
		"long":        long + "x\nnext\n",
		"later-long":  "first\n" + long + "\nnext\n",
		"umlauts":     strings.Repeat("ä", maxText) + "\n",
		"latin1":      "caf\xe9\n",
		"blank-lines": "\n\n\n",
	}
	for name, content := range files {
		put(t, filepath.Join(w.dir, name), content)
	}
	tests := []struct {
		in   readInput
		want string
	}{
		{readInput{Path: "hello.txt"}, "hello\n"},
		{readInput{Path: "./sub//inner.txt"}, "inner\n"},
		{readInput{Path: "empty"}, `["empty" is empty]`},
		{readInput{Path: "ten"}, lines(1, 10)},
		{readInput{Path: "ten", Limit: 10}, lines(1, 10)},
		{readInput{Path: "ten", Limit: 3}, lines(1, 3) + "\n[lines 1 to 3 of a file of 71 bytes; it goes on with offset 4]"},
		{readInput{Path: "ten", Offset: 4, Limit: 3}, lines(4, 6) + "\n[lines 4 to 6 of a file of 71 bytes; it goes on with offset 7]"},
		{readInput{Path: "ten", Offset: 9}, lines(9, 10) + "\n[lines 9 to 10, the end of the file]"},
		{readInput{Path: "ten", Offset: 10, Limit: 1}, lines(10, 10) + "\n[lines 10 to 10, the end of the file]"},
		{readInput{Path: "no-newline"}, "one\ntwo"},
		{readInput{Path: "no-newline", Offset: 2}, "two\n[lines 2 to 2, the end of the file]"},
		{readInput{Path: "crlf"}, "one\r\ntwo\r\n"},
		{readInput{Path: "many"}, lines(1, 2000) + "\n[lines 1 to 2000 of a file of 48893 bytes; it goes on with offset 2001]"},
		{readInput{Path: "many", Offset: 4001}, lines(4001, 5000) + "\n[lines 4001 to 5000, the end of the file]"},
		{readInput{Path: "exact"}, long},
		{readInput{Path: "exact-line"}, long[1:] + "\n\n[lines 1 to 1 of a file of 65541 bytes; it goes on with offset 2]"},
		{readInput{Path: "long"}, long + "\n[cut inside line 1, which is longer than the 65536 bytes that one call returns; offset 2 goes on after it]"},
		{readInput{Path: "long", Offset: 2}, "next\n\n[lines 2 to 2, the end of the file]"},
		{readInput{Path: "later-long"}, "first\n\n[lines 1 to 1 of a file of 65548 bytes; it goes on with offset 2]"},
		{readInput{Path: "later-long", Offset: 2}, long + "\n[cut inside line 2, which is longer than the 65536 bytes that one call returns; offset 3 goes on after it]"},
		{readInput{Path: "later-long", Offset: 3}, "next\n\n[lines 3 to 3, the end of the file]"},
		{readInput{Path: "umlauts"}, strings.Repeat("ä", maxText/2) + "\n[cut inside line 1, which is longer than the 65536 bytes that one call returns; offset 2 goes on after it]"},
		{readInput{Path: "latin1"}, "caf\uFFFD\n\n[bytes that are not UTF-8 are shown as \uFFFD]"},
		{readInput{Path: "blank-lines", Offset: 3}, "\n\n[lines 3 to 3, the end of the file]"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.in), func(t *testing.T) {
			got, err := read(t, w, test.in)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %q\nwant %q", clip(got), clip(test.want))
			}
		})
	}
}

// clip keeps the end of a long text, where the notes are.
func clip(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("(%d bytes)…%s", len(s), s[len(s)-300:])
	}
	return s
}

func TestReadFileRefuses(t *testing.T) {
	w, _ := newWorkspace(t)
	put(t, filepath.Join(w.dir, "picture.png"), "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	put(t, filepath.Join(w.dir, "program"), "\x7fELF\x02\x01\x01\x00\x00")
	put(t, filepath.Join(w.dir, "report.pdf"), "%PDF-1.7\nno NUL here\n")
	put(t, filepath.Join(w.dir, "utf16.txt"), "\xff\xfeh\x00i\x00")
	put(t, filepath.Join(w.dir, "late-nul"), strings.Repeat("text\n", 200)+"\x00")
	tests := []struct {
		in    readInput
		parts []string
	}{
		{readInput{Path: "missing.txt"}, []string{`there is no "missing.txt"`, "list_dir"}},
		{readInput{Path: "no/such/folder.txt"}, []string{`there is no "no/such/folder.txt"`}},
		{readInput{Path: "hello.txt/x"}, []string{"is no folder"}},
		{readInput{Path: "sub"}, []string{"is a folder; use list_dir"}},
		{readInput{Path: "."}, []string{"is a folder; use list_dir"}},
		{readInput{Path: "picture.png"}, []string{"image/png", "16 bytes"}},
		{readInput{Path: "program"}, []string{"application/octet-stream"}},
		{readInput{Path: "report.pdf"}, []string{"application/pdf"}},
		{readInput{Path: "utf16.txt"}, []string{"utf-16le"}},
		{readInput{Path: "late-nul"}, []string{"not UTF-8 text"}},
		{readInput{Path: "hello.txt", Offset: 2}, []string{"offset 2 is beyond the end", "has 1 lines"}},
		{readInput{Path: "hello.txt", Offset: 9}, []string{"offset 9 is beyond the end", "has 1 lines"}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.in), func(t *testing.T) {
			_, err := read(t, w, test.in)
			holds(t, err, test.parts...)
			if strings.Contains(err.Error(), w.dir) {
				t.Errorf("the error names a path outside of the workspace: %v", err)
			}
		})
	}
}

// Whatever offset and limit cut a file into, the pieces are the file.
func TestPagesMakeTheFile(t *testing.T) {
	w, _ := newWorkspace(t)
	content := lines(1, 997) + "no newline at the end"
	put(t, filepath.Join(w.dir, "book"), content)
	for _, limit := range []int{1, 7, 100, 998, 5000} {
		var whole strings.Builder
		for offset := 1; ; offset += limit {
			result, err := readFile(t.Context(), w, readInput{Path: "book", Offset: offset, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			whole.WriteString(result.Content[0].Text)
			if !strings.Contains(result.Text(), "goes on with") {
				break
			}
		}
		if whole.String() != content {
			t.Errorf("limit %d: the pieces are %d bytes, the file %d", limit, whole.Len(), len(content))
		}
	}
}
