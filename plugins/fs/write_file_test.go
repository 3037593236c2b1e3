package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestWriteFile(t *testing.T) {
	w, _ := newWorkspace(t)
	tests := []struct{ path, content, want string }{
		{"new.txt", "some text", `wrote 9 bytes to "new.txt", a new file`},
		{"new.txt", "", `wrote 0 bytes to "new.txt", which had 9`},
		{"hello.txt", "größer\n", `wrote 9 bytes to "hello.txt", which had 6`},
		{"a/b/c/deep.txt", "x", `wrote 1 bytes to "a/b/c/deep.txt", a new file`},
		{"./a//b/./d.txt", "y", `wrote 1 bytes to "./a//b/./d.txt", a new file`},
		{"a/b/../e.txt", "z", `wrote 1 bytes to "a/b/../e.txt", a new file`},
		{strings.Repeat("n", 255), "long name", fmt.Sprintf("wrote 9 bytes to %q, a new file", strings.Repeat("n", 255))},
	}
	for _, test := range tests {
		got, err := writeFile(t.Context(), newLanes(), w, writeInput{Path: test.path, Content: test.content})
		if err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		if content, err := os.ReadFile(filepath.Join(w.dir, test.path)); err != nil || string(content) != test.content {
			t.Errorf("%s holds %q, %v; want %q", test.path, content, err, test.content)
		}
	}
	noLeftovers(t, w)
}

func TestWriteFileRefuses(t *testing.T) {
	w, _ := newWorkspace(t)
	put(t, filepath.Join(w.dir, "locked.txt"), "locked")
	if err := os.Chmod(filepath.Join(w.dir, "locked.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(w.dir, "hello.txt"), filepath.Join(w.dir, "absolute"))
	tests := []struct{ path, problem string }{
		{".", "names a folder"},
		{"sub/", "names a folder"},
		{"new/", "names a folder"},
		{"sub/..", "names a folder"},
		{"sub", "is a folder; give the path of a file"},
		{"hello.txt/x", "is no folder"},
		{"hello.txt/x/y", "is no folder"},
		{"locked.txt", "read-only (-r--r--r--)"},
		{"absolute", "absolute target"},
		{strings.Repeat("n", 256), "name too long"},
	}
	for _, test := range tests {
		_, err := writeFile(t.Context(), newLanes(), w, writeInput{Path: test.path, Content: "content"})
		holds(t, err, test.problem)
	}
	noLeftovers(t, w)
}

func TestWriteFileKeepsTheMode(t *testing.T) {
	w, _ := newWorkspace(t)
	script := filepath.Join(w.dir, "run.sh")
	put(t, script, "old")
	if err := os.Chmod(script, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := writeFile(t.Context(), newLanes(), w, writeInput{Path: "run.sh", Content: "new"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(script); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode is %v now, %v", info.Mode(), err)
	}
}

// A reader sees the old or the new content and never a mixture. Of several writers, one wins
// completely.
func TestWriteFileIsAtomic(t *testing.T) {
	w, _ := newWorkspace(t)
	contents := []string{strings.Repeat("a", 50_000), strings.Repeat("b", 10_000)}
	put(t, filepath.Join(w.dir, "file"), contents[0])
	var writers sync.WaitGroup
	for _, content := range contents {
		writers.Go(func() {
			for range 100 {
				if _, err := writeFile(t.Context(), newLanes(), w, writeInput{Path: "file", Content: content}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		got, err := os.ReadFile(filepath.Join(w.dir, "file"))
		if err != nil || string(got) != contents[0] && string(got) != contents[1] {
			t.Fatalf("met %d bytes that nobody wrote, %v", len(got), err)
		}
		select {
		case <-done:
			noLeftovers(t, w)
			return
		default:
		}
	}
}

// noLeftovers fails the test if a temporary file is left.
func noLeftovers(t *testing.T, w onDisk) {
	t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".toolhost") {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
