package operate

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// The files of a result get names that the user chose. Of the names of the tool, only a plain
// extension of a further file is used.
func TestSaveUsesTheNamesOfTheUser(t *testing.T) {
	dir := t.TempDir()
	var stderr strings.Builder
	p := cli.Process{Stderr: &stderr}
	s := saving{file: filepath.Join(dir, "out.png")}
	content := []tool.Content{
		tool.Text("text"), tool.Image("image/png\x1b[31m", []byte("one")), tool.File("../../evil", "text/plain", []byte("two")),
		tool.File("table.csv", "text/csv", []byte("three")), tool.File("x.c/../../sv", "text/csv", []byte("four")), tool.File("x.\x1b[31m", "text/csv", []byte("five")),
	}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	if err := s.write(p, content, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"out.png": "one", "out-2.png": "two", "out-3.csv": "three", "out-4.png": "four", "out-5.png": "five"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 5 {
		t.Errorf("the folder has %v", entries)
	}
	if strings.Contains(stderr.String(), "\x1b") {
		t.Errorf("a tool controls the terminal: %q", stderr.String())
	}
}

func TestSaveDoesNotReplaceFiles(t *testing.T) {
	dir := t.TempDir()
	precious, link := filepath.Join(dir, "precious"), filepath.Join(dir, "link")
	if err := os.WriteFile(precious, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, link); err != nil {
		t.Fatal(err)
	}
	content := []tool.Content{tool.Image("image/png", []byte("new"))}
	p := cli.Process{Stderr: &strings.Builder{}}
	for _, file := range []string{precious, link, dir} {
		s := saving{file: file}
		if err := s.check(); err == nil {
			t.Errorf("check accepts %s", file)
		}
		if err := s.write(p, content, nil); err == nil {
			t.Errorf("write replaced %s", file)
		}
	}
	// With --overwrite, the link is replaced and not followed.
	s := saving{file: link, overwrite: true}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	if err := s.write(p, content, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(precious); string(got) != "keep" || err != nil {
		t.Errorf("the file behind the link has %q, %v", got, err)
	}
	if got, err := os.ReadFile(link); string(got) != "new" || err != nil {
		t.Errorf("the file has %q, %v", got, err)
	}
}

// With --overwrite, saving replaces neither a folder nor a pipe.
func TestSaveReplacesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe-2.png")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, dir} {
		if err := (&saving{file: file, overwrite: true}).check(); err == nil {
			t.Errorf("check accepts %s", file)
		}
	}
	s := saving{file: filepath.Join(dir, "pipe.png"), overwrite: true}
	content := []tool.Content{tool.Image("image/png", []byte("one")), tool.Image("image/png", []byte("two"))}
	if err := s.write(cli.Process{Stderr: &strings.Builder{}}, content, nil); err == nil {
		t.Error("write replaced the pipe")
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}

// A call is not executed if there is no folder for its result.
func TestSaveNeedsAFolder(t *testing.T) {
	for _, name := range []string{"absent/out.png", "absent/"} {
		if err := (&saving{file: t.TempDir() + "/" + name}).check(); err == nil {
			t.Errorf("check accepts %s", name)
		}
	}
}

func TestSaveNeedsAFile(t *testing.T) {
	s := saving{file: filepath.Join(t.TempDir(), "out")}
	if err := s.write(cli.Process{Stderr: &strings.Builder{}}, []tool.Content{tool.Text("x")}, nil); err == nil {
		t.Error("a result without a file is saved")
	}
}

// An image that is too large for a result becomes an artifact, and --save saves it. A long text
// that becomes an artifact is not saved.
func TestSaveReadsArtifacts(t *testing.T) {
	s := saving{file: filepath.Join(t.TempDir(), "out.png")}
	content := []tool.Content{
		{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "text", MediaType: "text/plain", Head: "a long text"}},
		{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "image", MediaType: "image/png", Size: 5}},
		{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "file", MediaType: "text/csv", Name: "a.csv", Head: "a,b", Size: 4}},
	}
	read := func(w io.Writer, a *tool.Artifact) error {
		_, err := io.WriteString(w, a.Handle)
		return err
	}
	var stderr strings.Builder
	if err := s.write(cli.Process{Stderr: &stderr}, content, read); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{1: "image", 2: "file"} {
		if got, err := os.ReadFile(s.path(n, "a.csv")); string(got) != want || err != nil {
			t.Errorf("file %d: %q, %v", n, got, err)
		}
	}
	if !strings.Contains(stderr.String(), "(image/png, 5 bytes)") {
		t.Errorf("the command says %q", stderr.String())
	}

	// If an artifact cannot be read, no part of the file remains.
	s.file += ".other"
	fails := func(w io.Writer, _ *tool.Artifact) error {
		return errors.Join(errors.New("gone"), func() error { _, err := io.WriteString(w, "half"); return err }())
	}
	if err := s.write(cli.Process{Stderr: &stderr}, content, fails); err == nil {
		t.Error("an artifact that is gone was saved")
	}
	if _, err := os.Lstat(s.file); err == nil {
		t.Error("half a file remains")
	}
}
