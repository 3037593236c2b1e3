package workspacetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/sdk/workspace"
)

func (s suite) testWrite(t *testing.T) {
	w, dir := s.open(t, files())
	tests := []struct {
		name, content string
		before        int64 // -1: there was no file
		base          string
	}{
		{"new.txt", "some text", -1, "new.txt"},
		{"new.txt", "", 9, "new.txt"},
		{"hello.txt", "größer\n", 6, "hello.txt"},
		{"a/b/c/deep.txt", "x", -1, "deep.txt"},
		{"./a//b/./d.txt", "y", -1, "d.txt"},
		{"a/b/../e.txt", "z", -1, "e.txt"},
		{dir + "/f/g.txt", "absolute", -1, "g.txt"},
		{strings.Repeat("n", 255), "long name", -1, strings.Repeat("n", 255)},
	}
	for _, test := range tests {
		change, err := w.WriteFile(t.Context(), test.name, []byte(test.content), workspace.WriteOptions{})
		if err != nil {
			t.Errorf("WriteFile(%q): %v", test.name, err)
			continue
		}
		if change.Created() != (test.before < 0) || change.Before.Size != max(0, test.before) ||
			change.After.Size != int64(len(test.content)) || change.After.Name != test.base || !change.After.Mode.IsRegular() {
			t.Errorf("WriteFile(%q): got %+v", test.name, change)
		}
		reads(t, w, map[string]string{test.name: test.content})
		if info, err := w.Stat(t.Context(), test.name); err != nil || info.Version != change.After.Version {
			t.Errorf("the version of %s is %q, %v; its write said %q", test.name, info.Version, err, change.After.Version)
		}
	}
	onlyNamed(t, w)
}

// onlyNamed fails the test if the workspace has a file that the test did not create.
func onlyNamed(t *testing.T, w workspace.Workspace) {
	t.Helper()
	infos, err := list(t, w, ".")
	if err != nil {
		t.Error(err)
	}
	for name := range infos {
		if _, seeded := files()[name]; !seeded && strings.HasPrefix(name, ".") {
			t.Errorf("%q was left behind", name)
		}
	}
}

func (s suite) testWriteRefuses(t *testing.T) {
	seeded := files()
	seeded["locked.txt"] = workspace.MemoryFile{Mode: 0o444, Content: "locked"}
	w, _ := s.open(t, seeded)
	for name, want := range map[string]error{
		".": workspace.ErrFolder, "sub/": workspace.ErrFolder, "new/": workspace.ErrFolder, "sub/..": workspace.ErrFolder,
		"sub": workspace.ErrFolder, "folder": workspace.ErrFolder,
		"hello.txt/x": workspace.ErrNotFolder, "hello.txt/x/y": workspace.ErrNotFolder,
		"locked.txt": fs.ErrPermission,
		"pipe":       workspace.ErrIrregular, "pipe-link": workspace.ErrIrregular,
		"loop": fs.ErrInvalid, "": fs.ErrInvalid,
	} {
		_, err := w.WriteFile(t.Context(), name, []byte("content"), workspace.WriteOptions{})
		refused(t, "WriteFile", name, err, want)
	}
	reads(t, w, map[string]string{"locked.txt": "locked", "hello.txt": "hello\n"})
	onlyNamed(t, w)
}

func (s suite) testWriteKeeps(t *testing.T) {
	w, _ := s.open(t, map[string]workspace.MemoryFile{"run.sh": {Mode: 0o750, Content: "old"}})
	if _, err := w.WriteFile(t.Context(), "run.sh", []byte("new"), workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := w.Stat(t.Context(), "run.sh"); err != nil || info.Mode != 0o750 {
		t.Errorf("the mode is %v now, %v", info.Mode, err)
	}
	content := []byte("mine")
	if _, err := w.WriteFile(t.Context(), "run.sh", content, workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	content[0] = 'X'
	reads(t, w, map[string]string{"run.sh": "mine"})
}

func (s suite) testVersions(t *testing.T) {
	w, _ := s.open(t, files())
	first, err := w.Stat(t.Context(), "hello.txt")
	if err != nil {
		t.Fatal(err)
	}
	// The same bytes written again are another version: another writer may have changed them in
	// between.
	second, err := w.WriteFile(t.Context(), "hello.txt", []byte("hello\n"), workspace.WriteOptions{IfVersion: first.Version})
	if err != nil || second.After.Version == first.Version || second.Before.Version != first.Version {
		t.Errorf("from version %q: got %+v, %v", first.Version, second, err)
	}
	_, err = w.WriteFile(t.Context(), "hello.txt", []byte("lost"), workspace.WriteOptions{IfVersion: first.Version})
	refused(t, "WriteFile", "hello.txt", err, workspace.ErrChanged)
	for _, missing := range []string{"missing.txt", "no/folder/missing.txt"} {
		_, err = w.WriteFile(t.Context(), missing, []byte("lost"), workspace.WriteOptions{IfVersion: first.Version})
		refused(t, "WriteFile", missing, err, fs.ErrNotExist)
	}
	if _, err := w.Stat(t.Context(), "no"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a write that was refused made folders: %v", err)
	}
	reads(t, w, map[string]string{"hello.txt": "hello\n"})
	onlyNamed(t, w)
}

// With concurrent writers, a reader always gets one whole content, and its version belongs to that
// content.
func (s suite) testVersionsCompete(t *testing.T) {
	w, _ := s.open(t, map[string]workspace.MemoryFile{"n": {Content: "0"}})
	const rounds = 50
	ctx, cancel := context.WithCancel(t.Context())
	var writer, readers sync.WaitGroup
	writer.Go(func() {
		for n := 1; n <= rounds; n++ {
			if _, err := w.WriteFile(ctx, "n", []byte(strings.Repeat(strconv.Itoa(n)+" ", 5000)), workspace.WriteOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if err := wholeContent(t.Context(), w); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writer.Wait()
	cancel()
	readers.Wait()
	onlyNamed(t, w)
}

// wholeContent reads a file and returns an error unless its content is one number, repeated.
func wholeContent(ctx context.Context, w workspace.Workspace) error {
	file, err := w.Open(ctx, "n")
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(content), " ")
	if whole := strings.Repeat(first+" ", 5000); string(content) != "0" && string(content) != whole || int64(len(content)) != file.Info().Size {
		return fmt.Errorf("met %d bytes that nobody wrote, of a file of %d", len(content), file.Info().Size)
	}
	return nil
}

func (s suite) testCancelled(t *testing.T) {
	w, _ := s.open(t, files())
	file, err := w.Open(t.Context(), "hello.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, cancel := context.WithCancel(t.Context())
	bound, err := w.Open(ctx, "hello.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer bound.Close()
	cancel()
	_, readErr := bound.Read(make([]byte, 1))
	_, openErr := w.Open(ctx, "hello.txt")
	_, statErr := w.Stat(ctx, "hello.txt")
	_, subErr := w.Sub(ctx, "sub")
	_, writeErr := w.WriteFile(ctx, "hello.txt", []byte("changed"), workspace.WriteOptions{})
	var listErr error
	for _, err := range w.ReadDir(ctx, ".") {
		listErr = err
	}
	for method, err := range map[string]error{"Read": readErr, "Open": openErr, "Stat": statErr, "Sub": subErr, "WriteFile": writeErr, "ReadDir": listErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want that of the context", method, err)
		}
	}
	reads(t, w, map[string]string{"hello.txt": "hello\n"})
}

// An open file keeps its content, whatever happens to its name.
func (s suite) testOpenFilesStay(t *testing.T) {
	w, _ := s.open(t, files())
	file, err := w.Open(t.Context(), "hello.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := w.WriteFile(t.Context(), "hello.txt", []byte("another content"), workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(file); err != nil || string(content) != "hello\n" {
		t.Errorf("the open file has %q, %v", content, err)
	}
}
