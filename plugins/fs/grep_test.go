package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/sdk/workspace"
)

func grepTree() *workspace.Memory {
	return workspace.NewMemory(map[string]workspace.MemoryFile{
		"a.go":              {Content: "package a\n\n// needle one\nfunc a() {}\n// needle two\n"},
		"b.txt":             {Content: "nothing\r\nNeedle\r\nlast"},
		"binary":            {Content: "needle\x00"},
		"docs/utf16.md":     {Content: "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00"},
		"src/deep/x.go":     {Content: "1\n2\n3\nneedle x\n5\n6\n7\n8\nneedle y\n"},
		"src/x_test.go":     {Content: "test needle (x)\n"},
		"node_modules/m.js": {Content: "needle"},
		".gitignore":        {Content: "node_modules\n"},
		".hidden":           {Content: "needle"},
		".git/HEAD":         {Content: "needle"},
		"link":              {Mode: fs.ModeSymlink, Content: "a.go"},
		"out":               {Mode: fs.ModeSymlink, Content: "../secret"},
		"pipe":              {Mode: fs.ModeNamedPipe},
		"loop":              {Mode: fs.ModeSymlink, Content: "."},
	})
}

func TestGrep(t *testing.T) {
	tests := map[string]struct {
		in   grepInput
		want string
	}{
		"lines": {grepInput{Pattern: "needle", Glob: "*.go"}, `a.go
3:// needle one
5:// needle two

src/deep/x.go
4:needle x
9:needle y

src/x_test.go
1:test needle (x)
`},
		"around": {grepInput{Pattern: "needle", Glob: "src/deep/*.go", Before: 1, After: 2}, `src/deep/x.go
3-3
4:needle x
5-5
6-6
--
8-8
9:needle y
`},
		"files":            {grepInput{Pattern: "needle", Output: showFiles}, ".git/HEAD\n.hidden\na.go\ndocs/utf16.md\nnode_modules/m.js\nsrc/deep/x.go\nsrc/x_test.go\n"},
		"counts":           {grepInput{Pattern: "needle", Output: showCounts, Gitignore: true}, ".hidden: 1\na.go: 2\ndocs/utf16.md: 1\nsrc/deep/x.go: 2\nsrc/x_test.go: 1\n"},
		"any case":         {grepInput{Pattern: "^needle$", IgnoreCase: true, Path: "b.txt"}, "b.txt\n2:Needle\n"},
		"fixed":            {grepInput{Pattern: "needle (x", Fixed: true, Output: showFiles}, "src/x_test.go\n"},
		"multiline":        {grepInput{Pattern: `one.func`, Multiline: true}, "a.go\n3:// needle one\n4:func a() {}\n"},
		"a folder":         {grepInput{Pattern: "needle", Path: "src/", Output: showFiles}, "src/deep/x.go\nsrc/x_test.go\n"},
		"its absolute":     {grepInput{Pattern: "needle", Path: "/workspace/src", Output: showFiles}, "src/deep/x.go\nsrc/x_test.go\n"},
		"a file":           {grepInput{Pattern: "needle x", Path: "src/deep/x.go", Glob: "*.none"}, "src/deep/x.go\n4:needle x\n"},
		"a link":           {grepInput{Pattern: "needle one", Path: "link"}, "link\n3:// needle one\n"},
		"excluded":         {grepInput{Pattern: "needle", Exclude: "{src,.*,node_modules}", Output: showFiles}, "a.go\ndocs/utf16.md\n"},
		"excluded by path": {grepInput{Pattern: "needle", Exclude: "src/**", Glob: "*.go", Output: showFiles}, "a.go\n"},
		"nothing":          {grepInput{Pattern: "nowhere"}, "[no match in 10 files]\n[1 binary files were not searched]\n"},
		"no files":         {grepInput{Pattern: "needle", Glob: "*.rs"}, "[no match in 0 files]\n"},
		"limit": {grepInput{Pattern: "needle", Glob: "*.go", Limit: 3, After: 1}, `a.go
3:// needle one
4-func a() {}
5:// needle two

src/deep/x.go
4:needle x
5-5
[stopped at the limit of 3 matching lines, in order of the paths: there are more; a pattern, path or glob that says more finds fewer, and a higher limit shows more]
`},
		"limit at the end of a file": {grepInput{Pattern: "needle", Glob: "*.go", Limit: 2}, `a.go
3:// needle one
5:// needle two
[stopped at the limit of 2 matching lines, in order of the paths: there are more; a pattern, path or glob that says more finds fewer, and a higher limit shows more]
`},
		"limit that is just enough": {grepInput{Pattern: "needle", Path: "a.go", Limit: 2}, "a.go\n3:// needle one\n5:// needle two\n"},
		"limit of files": {grepInput{Pattern: "needle", Output: showFiles, Limit: 1},
			".git/HEAD\n[stopped at the limit of 1 files, in order of the paths: there are more; a pattern, path or glob that says more finds fewer, and a higher limit shows more]\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			got, err := grep(t.Context(), grepTree(), test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGrepRefuses(t *testing.T) {
	for _, test := range []struct {
		in    grepInput
		words string
	}{
		{grepInput{Pattern: "("}, "missing closing )"},
		{grepInput{Pattern: "a\nb"}, "unless multiline is set"},
		{grepInput{Pattern: "x", Glob: "[a"}, "the glob \"[a\" is no glob"},
		{grepInput{Pattern: "x", Exclude: "../x"}, "the exclude \"../x\" leads out"},
		{grepInput{Pattern: "x", Path: "../secret"}, "leads out of the workspace"},
		{grepInput{Pattern: "x", Path: "out"}, "leads out of the workspace"},
		{grepInput{Pattern: "x", Path: "missing"}, `there is no "missing"`},
		{grepInput{Pattern: "x", Path: "pipe"}, "no regular file but a fifo"},
	} {
		_, err := grep(t.Context(), grepTree(), test.in)
		holds(t, err, test.words)
	}
}

// The result does not depend on how many files are searched concurrently and which one finishes
// first.
func TestGrepIsInOrder(t *testing.T) {
	contents := map[string]string{}
	for i := range 500 {
		contents[fmt.Sprintf("d%02d/f%03d", i%13, i)] = strings.Repeat("no\n", i*37%1000) + fmt.Sprintf("needle %d\n", i)
	}
	w := inMemory(contents)
	first, err := grep(t.Context(), w, grepInput{Pattern: "needle", Limit: 2000})
	if err != nil || strings.Count(first, "needle") != 500 {
		t.Fatalf("got %d lines, %v", strings.Count(first, "needle"), err)
	}
	for range 5 {
		if again, err := grep(t.Context(), w, grepInput{Pattern: "needle", Limit: 2000}); err != nil || again != first {
			t.Errorf("another time the answer is another, %v", err)
		}
	}
}

// The result is bounded in bytes, independent of the limit of lines.
func TestGrepOfLongLines(t *testing.T) {
	w := inMemory(map[string]string{"a": strings.Repeat(strings.Repeat("x", 300)+"\n", 1000), "b": "x"})
	got, err := grep(t.Context(), w, grepInput{Pattern: "x", Limit: 2000})
	if err != nil || len(got) > maxText+1000 || !strings.Contains(got, "[stopped at 64 KiB, in order of the paths") {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	huge := inMemory(map[string]string{"huge": "needle\n" + strings.Repeat("x", 9<<20)})
	got, err = grep(t.Context(), huge, grepInput{Pattern: "needle"})
	if want := "huge\n1:needle\n[1 files were searched only up to where they are too long, with a line or, with multiline, a size of more than 8 MiB, such as \"huge\"]\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// counting is a workspace that counts open files and cancels the call at the hundredth one.
type counting struct {
	workspace.Workspace
	opened, open *atomic.Int32
	cancel       context.CancelFunc
}

func (c counting) Sub(ctx context.Context, name string) (workspace.Workspace, error) {
	sub, err := c.Workspace.Sub(ctx, name)
	if err == nil {
		c.open.Add(1)
	}
	c.Workspace = sub
	return c, err
}

func (c counting) Close() error {
	c.open.Add(-1)
	return c.Workspace.Close()
}

func (c counting) Open(ctx context.Context, name string) (workspace.File, error) {
	if c.opened.Add(1) == 100 && c.cancel != nil {
		c.cancel()
	}
	file, err := c.Workspace.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &countedFile{File: file, open: c.open}, nil
}

type countedFile struct {
	workspace.File
	open *atomic.Int32
	once sync.Once
}

func (c *countedFile) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.File.Close()
}

// However a search ends, it leaves no open file, folder or goroutine.
func TestGrepLeavesNothingOpen(t *testing.T) {
	contents := map[string]string{}
	for i := range 5000 {
		contents[fmt.Sprintf("d%02d/f%04d", i%50, i)] = "needle\n"
	}
	memory := inMemory(contents)
	for name, test := range map[string]struct {
		cancelled bool
		in        grepInput
		most      int32
	}{
		"all":       {false, grepInput{Pattern: "needle", Output: showCounts, Limit: 6000}, 5000},
		"enough":    {false, grepInput{Pattern: "needle", Limit: 10}, 2000},
		"cancelled": {true, grepInput{Pattern: "nowhere"}, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := counting{Workspace: memory, opened: new(atomic.Int32), open: new(atomic.Int32)}
			if test.cancelled {
				w.cancel = cancel
			}
			_, err := grep(ctx, w, test.in)
			if errors.Is(err, context.Canceled) != test.cancelled {
				t.Errorf("got %v", err)
			}
			if open := w.open.Load(); open != 0 {
				t.Errorf("%d files and folders are still open", open)
			}
			if opened := w.opened.Load(); opened > test.most {
				t.Errorf("%d files were opened, want at most %d", opened, test.most)
			}
		})
	}
}

// In a real folder, files that cannot or must not be opened are skipped.
func TestGrepOnDisk(t *testing.T) {
	w, _ := newWorkspace(t)
	link(t, "../secret.txt", filepath.Join(w.dir, "file-out"))
	link(t, "..", filepath.Join(w.dir, "folder-out"))
	link(t, "hello.txt", filepath.Join(w.dir, "inside"))
	if err := mkfifo(filepath.Join(w.dir, "pipe")); err != nil {
		t.Fatal(err)
	}
	got, err := grep(t.Context(), w, grepInput{Pattern: "hello|inner|secret"})
	if want := "hello.txt\n1:hello\n\nsub/inner.txt\n1:inner\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = globFiles(t.Context(), w, globInput{Pattern: "**", Sort: "name"})
	if want := "file-out\nfolder-out\nhello.txt\ninside\nsub/inner.txt\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, path := range []string{"folder-out", "file-out", "folder-out/ws-secret"} {
		_, grepErr := grep(t.Context(), w, grepInput{Pattern: "secret", Path: path})
		_, globErr := globFiles(t.Context(), w, globInput{Pattern: "**", Path: path})
		holds(t, grepErr, "leads out of the workspace")
		holds(t, globErr, "leads out of the workspace")
	}
}
