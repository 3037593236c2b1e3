package reaper

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

func TestSweepTakesWhatTheDeadLeft(t *testing.T) {
	parent := t.TempDir()
	token := strings.Repeat("A", 25) + "2"
	child := sleeper(t, token+"/1")
	dead, err := MakeRunDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeToken(dead.Path(), token); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(dead.Path(), "p1", "tmp"))
	if err := dead.claim.Close(); err != nil { // as the kernel does for a killed process
		t.Fatal(err)
	}
	swept, err := Sweep(parent)
	if err != nil || swept.RunDirs != 1 || swept.Processes != 1 {
		t.Errorf("Sweep = %+v, %v; want one folder and one process", swept, err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	if err := child.Wait(); err == nil {
		t.Error("the process was not killed")
	}
}

// What a toolhost has left is ended by its token, also where its run folder cannot be seen. A
// folder that is still claimed proves nothing.
func TestEnd(t *testing.T) {
	token := strings.Repeat("A", 25) + "2"
	child := sleeper(t, token+"/1")
	if err := End(filepath.Join(t.TempDir(), "nowhere"), token); err != nil {
		t.Error(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("the process was not killed")
	}
	dead, err := MakeRunDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeToken(dead.Path(), token), dead.claim.Close()); err != nil {
		t.Fatal(err)
	}
	if err := End(dead.Path(), token); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dead.Path()); err == nil {
		t.Error("the folder is left")
	}
	for _, text := range []string{"", "A", token + "/"} {
		if End(t.TempDir(), text) == nil {
			t.Errorf("%q is a token", text)
		}
	}
}

func TestSweepKeepsForeignFolders(t *testing.T) {
	parent := t.TempDir()
	living, err := MakeRunDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Close()
	g := start(t, Config{RunDir: living.Path()})
	child := sleeper(t, g.Token()+"/1")
	for _, name := range []string{"toolhost-backup", "toolhost-notesnotes", "other"} {
		fill(t, filepath.Join(parent, name))
	}
	if err := writeToken(filepath.Join(parent, "toolhost-notesnotes"), "T"); err != nil { // a mark that many processes may have
		t.Fatal(err)
	}
	for _, empty := range []string{"toolhost-e2e-3293336016", "toolhost-aaaaaaaaaaa", "toolhost-scratch-aaaaaaaaaa"} {
		if err := os.Mkdir(filepath.Join(parent, empty), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(parent, "toolhost-link")); err != nil {
		t.Fatal(err)
	}
	if swept, err := Sweep(parent); err != nil || swept.RunDirs != 0 || swept.Processes != 0 {
		t.Errorf("Sweep = %+v, %v; want nothing", swept, err)
	}
	if left, _ := os.ReadDir(parent); len(left) != 8 {
		t.Errorf("left is %v", left)
	}
	if !proc.Alive(child.Process.Pid) {
		t.Error("a process of a living toolhost was killed")
	}
}

func TestRunDirIsClosedToOthersAndRemoved(t *testing.T) {
	dir, err := MakeRunDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir.Path()); err != nil || info.Mode().Perm() != 0o700 || len(filepath.Base(dir.Path())) > 20 {
		t.Errorf("it is %v, %v", info, err)
	}
	fill(t, filepath.Join(dir.Path(), "p1"))
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.Path()); err == nil {
		t.Error("it is there")
	}
}

// fill makes a folder with a file.
func fill(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
