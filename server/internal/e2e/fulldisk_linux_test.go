package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// mountState makes the state folder a small file system in memory, and reports whether it could:
// only root can mount, and some containers forbid it to root too.
func (h *toolhost) mountState(t *testing.T) bool {
	t.Helper()
	if err := os.MkdirAll(h.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", h.state, "tmpfs", 0, "size=48m,mode=0700"); err != nil {
		t.Logf("nothing was checked: %v", err)
		return false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(h.state, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}

// When the disk of the state folder is full, toolhost refuses calls that it could not record, and
// executes none of them. Other calls continue. When there is room again, it takes all calls without
// a restart, and no answered call is lost.
func TestFullDiskOfTheState(t *testing.T) {
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	if !h.mountState(t) {
		return
	}
	h.serve(t)
	c := h.dial(t)
	before := &writing{id: "before"}
	if _, err := c.Call(t.Context(), before.call()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), tool.Call{Tool: "calculator", Arguments: []byte(`{"expression":"1+1"}`)}); err != nil {
		t.Fatal(err) // its process lives from now on
	}
	fill := filepath.Join(h.state, "fill")
	file, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = file.Write(block)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	// The files of the ledger may have some room inside.
	refused := ""
	var executed []string
	for i := 0; refused == "" && i < 10_000; i++ {
		w := &writing{id: "full-" + strings.Repeat("x", 100) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))}
		_, err := c.Call(t.Context(), w.call())
		switch {
		case err == nil:
			executed = append(executed, w.id)
		case tool.KindOf(err) == tool.KindUnavailable && strings.Contains(err.Error(), "nothing was executed"):
			refused = w.id
		default:
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if refused == "" {
		t.Fatal("no call is refused on a full disk")
	}
	if out, err := c.Call(t.Context(), tool.Call{Tool: "calculator", Arguments: []byte(`{"expression":"2+2"}`)}); err != nil || out.Result.Text() != "4" {
		t.Errorf("a call that needs no record: %+v, %v", out, err)
	}
	if n := h.linesWritten(t)[refused]; n != 0 {
		t.Errorf("the refused call was executed %d times", n)
	}
	if r := h.maintain(t, "backup", filepath.Join(h.state, "b.tar.gz")); r.code == 0 {
		t.Error("a backup to the full disk succeeds")
	}
	if _, err := os.Stat(filepath.Join(h.state, "b.tar.gz")); err == nil {
		t.Error("the failed backup left an archive")
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the refused call succeeds", func() bool {
		_, err := c.Call(t.Context(), (&writing{id: refused}).call())
		return err == nil
	})
	for _, id := range append(executed, before.id) {
		if out, err := c.Call(t.Context(), (&writing{id: id}).call()); err != nil || !out.Replayed {
			t.Fatalf("%s is lost: %+v, %v", id, out, err)
		}
	}
	h.maintain(t, "backup", filepath.Join(h.state, "b.tar.gz")).exits(t, 0)
	for id, n := range h.linesWritten(t) {
		if n != 1 {
			t.Errorf("%s was executed %d times", id, n)
		}
	}
}
