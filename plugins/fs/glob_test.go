package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// inMemory returns a workspace with files. A later name has a later modification time.
func inMemory(contents map[string]string) *workspace.Memory {
	files := map[string]workspace.MemoryFile{}
	for name, content := range contents {
		files[name] = workspace.MemoryFile{Content: content}
	}
	return workspace.NewMemory(files)
}

func globTree() *workspace.Memory {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	return workspace.NewMemory(map[string]workspace.MemoryFile{
		"main.go":                  {ModTime: day(1)},
		"main_test.go":             {ModTime: day(9)},
		"README.md":                {ModTime: day(3)},
		".github/ci.yaml":          {ModTime: day(4)},
		"deploy/a.yml":             {ModTime: day(5)},
		"deploy/b.toml":            {ModTime: day(5)},
		"deploy/testdata/x.yaml":   {ModTime: day(6)},
		"internal/a/a.go":          {ModTime: day(7)},
		"internal/a/b/b.go":        {ModTime: day(8)},
		"internal/a/testdata/t":    {ModTime: day(2)},
		"internal/link.go":         {ModTime: day(2), Mode: fs.ModeSymlink, Content: "a/a.go"},
		"internal/folder":          {Mode: fs.ModeSymlink, Content: "a"},
		"out":                      {Mode: fs.ModeSymlink, Content: "../../etc"},
		"pipe":                     {Mode: fs.ModeNamedPipe},
		"build/.gitignore":         {Content: "*\n!keep.go\n"},
		"build/made.go":            {ModTime: day(10)},
		"build/keep.go":            {ModTime: day(10)},
		".gitignore":               {Content: "/internal/a/b/\n*.toml\n"},
		".git/objects/x.go":        {},
		"internal/a/.gitignore":    {Content: "testdata/\n"},
		"two\nlines/strange\tname": {ModTime: day(1)},
	})
}

func TestGlob(t *testing.T) {
	tests := []struct {
		in   globInput
		want string
	}{
		{globInput{Pattern: "*.go"}, "main_test.go main.go"},
		{globInput{Pattern: "*.go", Sort: "name"}, "main.go main_test.go"},
		{globInput{Pattern: "./*.go", Sort: "name"}, "main.go main_test.go"},
		{globInput{Pattern: "**/*.go", Sort: "name"}, ".git/objects/x.go build/keep.go build/made.go internal/a/a.go internal/a/b/b.go internal/link.go main.go main_test.go"},
		{globInput{Pattern: "**/*.go", Sort: "name", Gitignore: true}, "build/keep.go internal/a/a.go internal/link.go main.go main_test.go"},
		{globInput{Pattern: "**/*.go", Sort: "name", Path: "internal"}, "internal/a/a.go internal/a/b/b.go internal/link.go"},
		{globInput{Pattern: "**/*.go", Sort: "name", Path: "internal/a", Gitignore: true}, "internal/a/a.go"},
		{globInput{Pattern: "internal/**/*.go"}, "internal/a/b/b.go internal/a/a.go internal/link.go"},
		{globInput{Pattern: "internal/*/*.go"}, "internal/a/a.go"},
		{globInput{Pattern: "internal/a/a.go"}, "internal/a/a.go"},
		{globInput{Pattern: "*.{yml,toml}", Path: "deploy"}, "deploy/a.yml deploy/b.toml"},
		{globInput{Pattern: "**/*.y*ml"}, "deploy/testdata/x.yaml deploy/a.yml .github/ci.yaml"},
		{globInput{Pattern: "**/testdata/", Sort: "name"}, "deploy/testdata internal/a/testdata"},
		{globInput{Pattern: "**/testdata/", Sort: "name", Gitignore: true}, "deploy/testdata"},
		{globInput{Pattern: "**/testdata/**", Sort: "name"}, "deploy/testdata/x.yaml internal/a/testdata/t"},
		{globInput{Pattern: "**/strange*"}, `"two\nlines/strange\tname"`},
		{globInput{Pattern: "**", Path: "/workspace/deploy", Sort: "name"}, "deploy/a.yml deploy/b.toml deploy/testdata/x.yaml"},
		{globInput{Pattern: "*.go", Limit: 1}, "main_test.go [1 of 2 paths, those that were changed last; a pattern that says more, or a higher limit, shows the others]"},
		{globInput{Pattern: "*.go", Limit: 1, Sort: "name"}, "main.go [1 of 2 paths, the first by name; a pattern that says more, or a higher limit, shows the others]"},
		{globInput{Pattern: "*.rs"}, `[nothing in "." matches "*.rs"; without ** a pattern does not look into folders below]`},
		{globInput{Pattern: "**/*.rs", Path: "deploy"}, `[nothing in "deploy" matches "**/*.rs"]`},
		{globInput{Pattern: "pipe"}, `[nothing in "." matches "pipe"; without ** a pattern does not look into folders below]`},
	}
	for _, test := range tests {
		got, err := globFiles(t.Context(), globTree(), test.in)
		if err != nil {
			t.Errorf("%+v: %v", test.in, err)
			continue
		}
		if diff := cmp.Diff(test.want, strings.Join(strings.Split(strings.TrimSuffix(got, "\n"), "\n"), " ")); diff != "" {
			t.Errorf("%+v: %s", test.in, diff)
		}
	}
}

func TestGlobRefuses(t *testing.T) {
	for _, test := range []struct {
		in    globInput
		words string
	}{
		{globInput{Pattern: "[a"}, "is no glob"},
		{globInput{Pattern: "{a,b"}, "is no glob"},
		{globInput{Pattern: "/etc/*"}, "is absolute"},
		{globInput{Pattern: "../*"}, "leads out of the folder"},
		{globInput{Pattern: "*", Path: ".."}, "leads out of the workspace"},
		{globInput{Pattern: "*", Path: "out"}, "leads out of the workspace"},
		{globInput{Pattern: "out/*"}, "leads out of the workspace"},
		{globInput{Pattern: "*", Path: "missing"}, `there is no "missing"`},
		{globInput{Pattern: "*", Path: "main.go"}, `"main.go" is a file`},
		{globInput{Pattern: "missing/*"}, `there is no "missing"`},
	} {
		_, err := globFiles(t.Context(), globTree(), test.in)
		holds(t, err, test.words)
	}
}

// Finding the newest of many files takes memory for few.
func TestGlobOfManyFiles(t *testing.T) {
	files := map[string]workspace.MemoryFile{}
	for i := range 3000 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = workspace.MemoryFile{ModTime: time.Unix(int64(i*7919%3000), 0)}
	}
	got, err := globFiles(t.Context(), workspace.NewMemory(files), globInput{Pattern: "**/f*", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	newest := func(second int) string { // the file that changed in that second
		for i := range 3000 {
			if i*7919%3000 == second {
				return fmt.Sprintf("d%d/f%d\n", i%7, i)
			}
		}
		return ""
	}
	want := newest(2999) + newest(2998) + newest(2997) + "[3 of 3000 paths, those that were changed last; a pattern that says more, or a higher limit, shows the others]\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// faulty is a workspace with an unreadable folder.
type faulty struct {
	workspace.Workspace
	name string
	err  error
}

func (f faulty) Sub(ctx context.Context, name string) (workspace.Workspace, error) {
	if name == f.name {
		return nil, f.err
	}
	sub, err := f.Workspace.Sub(ctx, name)
	return faulty{Workspace: sub, name: f.name, err: f.err}, err
}

func TestWalksGoOnWhereTheyCannotEnter(t *testing.T) {
	w := faulty{Workspace: globTree(), name: "a", err: &workspace.Error{Message: "no permission here", Err: fs.ErrPermission}}
	got, err := globFiles(t.Context(), w, globInput{Pattern: "internal/**/*.go"})
	if want := "internal/link.go\n[1 folders or files could not be read, such as: no permission here]\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	w.err = fs.ErrNotExist // the folder has been removed
	if got, err := globFiles(t.Context(), w, globInput{Pattern: "internal/**/*.go"}); err != nil || got != "internal/link.go\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWalksAreNotWithoutEnd(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth+5) + "f"
	w := inMemory(map[string]string{deep: "needle", "d/f": "needle"})
	want := "[1 folders were left out because they are more than 100 levels deep]\n"
	got, err := globFiles(t.Context(), w, globInput{Pattern: "**/f"})
	if err != nil || got != "d/f\n"+want {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = grep(t.Context(), w, grepInput{Pattern: "needle", Output: showFiles})
	if err != nil || got != "d/f\n"+want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWalksAreCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, globErr := globFiles(ctx, globTree(), globInput{Pattern: "**"})
	_, grepErr := grep(ctx, globTree(), grepInput{Pattern: "x"})
	_, fileErr := grep(ctx, globTree(), grepInput{Pattern: "x", Path: "main.go"})
	_, editErr := editFile(ctx, newLanes(), globTree(), editInput{Path: "main.go", Edits: []editPart{{OldText: "a", NewText: "b"}}})
	for _, err := range []error{globErr, grepErr, fileErr, editErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that of the context", err)
		}
	}
}
