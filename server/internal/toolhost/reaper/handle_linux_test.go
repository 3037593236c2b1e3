package reaper

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReaperHoldsNoDescriptorOfToolhost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held")
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR, 0o600) // without O_CLOEXEC, as if inherited
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	g := start(t, Config{})
	expected := map[string]bool{path: true}
	for _, std := range []string{"1", "2"} {
		if link, err := os.Readlink("/proc/self/fd/" + std); err == nil && link != "/dev/null" {
			expected[link] = true
		}
	}
	dir := fmt.Sprintf("/proc/%d/fd", g.PID())
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if link, _ := os.Readlink(filepath.Join(dir, entry.Name())); expected[link] {
			t.Errorf("the reaper holds descriptor %s, %s", entry.Name(), link)
		}
	}
}
