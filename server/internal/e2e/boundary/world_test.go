package boundary_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// world is a toolhost with counterplugin.
type world struct {
	home, addr string
	plugins    string   // the folder with the plugins
	flags      []string // further flags of toolhost
	log        *syncbuf.Buffer
	toolhost   *process // replaced after a kill
	// database returns the URL of a new database for the runs of an agentd. Nil: they are in a file.
	database func(*testing.T) string
}

// newWorld starts a toolhost and stops it at the end of the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, func(*world) {})
}

// newWorldWith is newWorld for a world that change has changed before its toolhost starts.
func newWorldWith(t *testing.T, change func(*world)) *world {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "boundary-") // the length of a socket path is limited
	if err != nil {
		t.Fatal(err)
	}
	w := &world{home: home, addr: "unix://" + filepath.Join(home, "t.sock"), log: &syncbuf.Buffer{}, plugins: filepath.Join(bin, "plugins")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("toolhost's log:\n%s", w.log)
		}
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	if err := os.Mkdir(filepath.Join(home, "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	change(w)
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.toolhost.stop() })
	return w
}

// open starts toolhost.
func (w *world) open() (err error) {
	args := append([]string{"serve", "--listen", w.addr, "--plugins", w.plugins, "--state", filepath.Join(w.home, "state"),
		"--workspace", filepath.Join(w.home, "workspace")}, w.flags...)
	w.toolhost, err = launch(w.home, w.log, nil, nil, "toolhost", args...)
	return err
}

// executed returns the number of executions by the call id that the plugin received. The plugin
// creates the file with its first line.
func (w *world) executed(t *testing.T, session string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.home, "workspace", session))
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for line := range strings.Lines(string(data)) {
		counts[strings.TrimSpace(line)]++
	}
	return counts
}

// place is the moment of a kill: before or after one append to a journal.
type place struct {
	seq uint64 // number of the append's last record
	// side is "before" or "after". With "before_nth" or "after_nth", seq is the number of the append
	// among all appends of the process, to whatever journal. "none" means no kill, but each append is
	// reported.
	side string
}

func (p place) String() string { return fmt.Sprintf("%s_%d", p.side, p.seq) }
