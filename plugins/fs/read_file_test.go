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
		"utf16":       "\xff\xfeh\x00\xe4\x00\r\x00\n\x00",
		"marked":      "\xef\xbb\xbfone\ntwo\n",
		"late-fault":  strings.Repeat("text\n", 4000) + "caf\xe9",
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
		{readInput{Path: "long"}, long + "\n[cut inside line 1, which is longer than the 65536 bytes that one call returns; it goes on with offset 1 and column 65537, the line after it has offset 2]"},
		{readInput{Path: "long", Offset: 2}, "next\n\n[lines 2 to 2, the end of the file]"},
		{readInput{Path: "later-long"}, "first\n\n[lines 1 to 1 of a file of 65548 bytes; it goes on with offset 2]"},
		{readInput{Path: "later-long", Offset: 2}, long + "\n[cut inside line 2, which is longer than the 65536 bytes that one call returns; it goes on with offset 2 and column 65537, the line after it has offset 3]"},
		{readInput{Path: "later-long", Offset: 3}, "next\n\n[lines 3 to 3, the end of the file]"},
		{readInput{Path: "umlauts"}, strings.Repeat("ä", maxText/2) + "\n[cut inside line 1, which is longer than the 65536 bytes that one call returns; it goes on with offset 1 and column 32769, the line after it has offset 2]"},
		{readInput{Path: "latin1"}, "café\n\n[the file is encoded as Windows-1252, which is a guess; edit_file keeps that, write_file writes UTF-8]"},
		{readInput{Path: "utf16"}, "hä\r\n\n[the file is encoded as UTF-16LE; edit_file keeps that, write_file writes UTF-8]"},
		{readInput{Path: "marked"}, "one\ntwo\n\n[the file is encoded as UTF-8 with a byte order mark; edit_file keeps that, write_file writes UTF-8]"},
		{readInput{Path: "marked", Offset: 2}, "two\n\n[lines 2 to 2, the end of the file]\n[the file is encoded as UTF-8 with a byte order mark; edit_file keeps that, write_file writes UTF-8]"},
		{readInput{Path: "late-fault"}, strings.Repeat("text\n", 2000) + "\n[lines 1 to 2000 of a file of 20004 bytes; it goes on with offset 2001]"},
		{readInput{Path: "late-fault", Offset: 4000}, "text\ncaf\uFFFD\n[lines 4000 to 4001, the end of the file]\n[bytes that are not UTF-8 are shown as \uFFFD]"},
		{readInput{Path: "umlauts", Column: 32769}, strings.Repeat("ä", maxText/2) + "\n[cut inside line 1, which is longer than the 65536 bytes that one call returns; it goes on with offset 1 and column 65537, the line after it has offset 2]"},
		{readInput{Path: "umlauts", Column: 65536}, "ä\n\n[lines 1 to 1, the end of the file]"},
		{readInput{Path: "ten", Offset: 2, Column: 6, Limit: 1}, "2\n\n[lines 2 to 2 of a file of 71 bytes; it goes on with offset 3]"},
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

// clip returns the end of a long text, which has the notes.
func clip(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("(%d bytes)…%s", len(s), s[len(s)-300:])
	}
	return s
}

func TestReadFileRefuses(t *testing.T) {
	w, _ := newWorkspace(t)
	tests := []struct {
		in    readInput
		parts []string
	}{
		{readInput{Path: "missing.txt"}, []string{`there is no "missing.txt"`, "list_dir"}},
		{readInput{Path: "no/such/folder.txt"}, []string{`there is no "no/such/folder.txt"`}},
		{readInput{Path: "hello.txt/x"}, []string{"is no folder"}},
		{readInput{Path: "sub"}, []string{"is a folder; use list_dir"}},
		{readInput{Path: "."}, []string{"is a folder; use list_dir"}},
		{readInput{Path: "hello.txt", Offset: 2}, []string{"offset 2 is beyond the end", "has 1 lines"}},
		{readInput{Path: "hello.txt", Offset: 9}, []string{"offset 9 is beyond the end", "has 1 lines"}},
		{readInput{Path: "hello.txt", Column: 6}, []string{"column 6 is beyond the end of line 1"}},
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

// For every offset and limit, the pages joined together are the file.
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

// For a binary file, the result tells the model the file's type and size instead of its content.
func TestReadFileDescribesBinaries(t *testing.T) {
	w, _ := newWorkspace(t)
	for name, file := range map[string]struct{ content, want string }{
		"program":    {"\x7fELF\x02\x01\x01\x00\x00", `["program" is a binary file, of the kind application/octet-stream: 9 bytes, which are not shown; the first are 7f 45 4c 46 02 01 01 00 00]`},
		"report.pdf": {"%PDF-1.7\nno NUL here\n", `["report.pdf" is a binary file, of the kind application/pdf: 21 bytes, which are not shown; the first are 25 50 44 46 2d 31 2e 37 0a 6e 6f 20 4e 55 4c 20]`},
		"late-nul":   {strings.Repeat("text\n", 200) + "\x00", `["late-nul" is a binary file, of the kind application/octet-stream: 1001 bytes, which are not shown; the first are 74 65 78 74 0a 74 65 78 74 0a 74 65 78 74 0a 74]`},
		"large.png":  {"\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", maxImage), `["large.png" is an image of more than the 5 MiB that can be shown, of the kind image/png: 5242888 bytes`},
	} {
		put(t, filepath.Join(w.dir, name), file.content)
		if got, err := read(t, w, readInput{Path: name}); err != nil || !strings.HasPrefix(got, file.want) {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func TestReadFileShowsImages(t *testing.T) {
	w, _ := newWorkspace(t)
	for name, file := range map[string]struct{ content, mediaType string }{
		"a.png":        {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("\x00", 100_000), "image/png"},
		"a.jpeg":       {"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"},
		"sub/a.gif":    {"GIF89a\x01\x00\x01\x00\x80", "image/gif"},
		"no-extension": {"RIFF\x1a\x00\x00\x00WEBPVP8 ", "image/webp"},
	} {
		put(t, filepath.Join(w.dir, name), file.content)
		result, err := readFile(t.Context(), w, readInput{Path: name})
		if err != nil || len(result.Content) != 1 {
			t.Fatalf("%s: got %v, %v", name, result, err)
		}
		image := result.Content[0]
		if image.Kind != "image" || image.MediaType != file.mediaType || image.Name != filepath.Base(name) || string(image.Data) != file.content {
			t.Errorf("%s: got %s %s %q of %d bytes", name, image.Kind, image.MediaType, image.Name, len(image.Data))
		}
	}
}
