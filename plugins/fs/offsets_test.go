package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// readFile reads a page of a file without what earlier calls have seen.
func readFile(ctx context.Context, w workspace.Workspace, in readInput) (sdk.Result, error) {
	return new(offsets).readFile(ctx, w, in)
}

// metered is a workspace that counts the bytes that are read from its files.
type metered struct {
	workspace.Workspace
	bytes int
}

type meteredFile struct {
	workspace.File
	io.Seeker
	workspace *metered
}

func (c *metered) Open(ctx context.Context, name string) (workspace.File, error) {
	file, err := c.Workspace.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &meteredFile{File: file, Seeker: file.(io.Seeker), workspace: c}, nil
}

func (f *meteredFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.workspace.bytes += n
	return n, err
}

// old makes a file look as if it had changed an hour ago.
func old(t *testing.T, path string) {
	t.Helper()
	hour := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, hour, hour); err != nil {
		t.Fatal(err)
	}
}

// Reading a file page by page costs a bounded number of bytes for each page, and the pages are the
// file: pages of lines, and pages within one line.
func TestPagesCostWhatTheyReturn(t *testing.T) {
	const pageCost = markEvery + 4*(maxText+1) // a scan from the nearest mark, and buffers
	long := strings.Repeat("é0123456789", 250_000)
	for name, content := range map[string]string{
		"lines":       lines(1, 300_000) + "no newline at the end",
		"a long line": "first\n" + long + "\nlast\n",
		"both":        lines(1, 50_000) + long + "\n" + lines(1, 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorkspace(t)
			put(t, filepath.Join(w.dir, "book"), content)
			old(t, filepath.Join(w.dir, "book"))
			read := &metered{Workspace: w}
			known := &offsets{}
			var whole strings.Builder
			in := readInput{Path: "book", Offset: 1, Column: 1, Limit: 1 << 20}
			pages := 0
			for more := true; more; pages++ {
				before := read.bytes
				result, err := known.readFile(t.Context(), read, in)
				if err != nil {
					t.Fatal(err)
				}
				if cost := read.bytes - before; cost > pageCost {
					t.Fatalf("page %d at %+v cost %d bytes", pages, in, cost)
				}
				whole.WriteString(result.Content[0].Text)
				in, more = next(t, in, result)
			}
			if whole.String() != content {
				t.Errorf("the pages have %d bytes, the file %d", whole.Len(), len(content))
			}
			for _, at := range []readInput{
				{Path: "book", Offset: 2, Limit: 3}, {Path: "book", Offset: 40_000, Limit: 3}, {Path: "book", Offset: 2, Column: 900_000, Limit: 1}, {Path: "book", Offset: 1 << 30},
			} {
				got, err := known.readFile(t.Context(), read, at)
				want, wantErr := readFile(t.Context(), w, at)
				if got.Text() != want.Text() || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%+v: got %.200q, %v; want %.200q, %v", at, got.Text(), err, want.Text(), wantErr)
				}
			}
		})
	}
}

// next returns the input for the page after a result.
func next(t *testing.T, in readInput, result sdk.Result) (readInput, bool) {
	t.Helper()
	if len(result.Content) < 2 {
		return in, false
	}
	note := result.Content[1].Text
	in.Column = 1
	_, rest, found := strings.Cut(note, "it goes on with offset ")
	if !found {
		return in, false
	}
	if n, _ := fmt.Sscanf(rest, "%d and column %d", &in.Offset, &in.Column); n == 0 {
		t.Fatalf("no offset in %q", note)
	}
	return in, true
}

// A changed file is read from its beginning, and a file that has just changed is not remembered.
func TestPagesOfAChangedFile(t *testing.T) {
	w, _ := newWorkspace(t)
	path := filepath.Join(w.dir, "book")
	known := &offsets{}
	for i, start := range []int{1, 2_000_000, 1_000} {
		put(t, path, lines(start, start+100_000))
		if i < 2 {
			old(t, path)
		}
		for _, line := range []int{1, 90_000, 90_001} {
			got, err := known.readFile(t.Context(), w, readInput{Path: "book", Offset: line, Limit: 2})
			want := lines(start+line-1, start+line)
			if err != nil || got.Content[0].Text != want {
				t.Fatalf("version %d, line %d: got %.100q, %v, want %q", i, line, got.Text(), err, want)
			}
		}
	}
	if n := len(known.files); n != 2 {
		t.Errorf("%d versions are remembered", n)
	}
}

// The memory is bounded.
func TestOffsetsAreBounded(t *testing.T) {
	var o offsets
	for file := range 3 * maxFiles {
		o.add("f", fmt.Sprint(file), []mark{{line: 1, column: 1, offset: 1}})
	}
	all := make([]mark, 2*maxMarks)
	for i := range all {
		all[i] = mark{line: i + 1, column: 1, offset: int64(i) * markEvery}
	}
	o.add("large", "1", all)
	if len(o.files) != maxFiles || len(o.files[maxFiles-1].marks) != maxMarks {
		t.Errorf("%d files, %d marks", len(o.files), len(o.files[maxFiles-1].marks))
	}
	if got := o.nearest("large", "1", 1<<40, 1); got != all[maxMarks-1] {
		t.Errorf("got %+v", got)
	}
}
