package commands

import (
	"os"
	"path/filepath"
	"testing"
)

// If another user may have taken the default address, agentd starts no private toolhost. Only root
// can create a folder of another user, so a folder that others can write represents one.
func TestNoToolhostInPlaceOfAStrangers(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.folder, "toolhost")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	script := w.script(twoTurns)
	w.run("run", "--model", script, "hi").want(t, 3, "others could replace the socket", "--toolhost")
	if os.Getuid() != 0 {
		return
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	w.run("run", "--model", script, "hi").want(t, 3, "belongs to another user", "--toolhost")
}
