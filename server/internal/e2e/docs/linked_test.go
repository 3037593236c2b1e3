//go:build more

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A repository that links the TypeScript SDK works in a fresh checkout, before npm has installed or
// built anything there.
func TestLinkedSDK(t *testing.T) {
	t.Parallel()
	needs(t, "typescript")
	r := newReader(t, "work", "typescript")
	fresh := filepath.Join(r.home, "fresh")
	tracked := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "sdk/typescript", "go.mod", "LICENSE")
	tracked.Dir = root(t)
	list, err := tracked.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root(t), name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(fresh, name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(fresh, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := page{name: "typescript"}
	r.script(t, p, block{text: "toolhost new counter --lang typescript --sdk ../fresh\n! test -e counter/third_party\nmake -C counter test\n"})
	linked := r.script(t, p, block{text: "grep '\"@toolhost/sdk\"' counter/package.json\n"})
	if want := `"file:../../fresh/sdk/typescript"`; !strings.Contains(linked, want) {
		t.Errorf("package.json says %s, want %s", linked, want)
	}
}
