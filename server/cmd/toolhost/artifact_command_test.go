package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// An artifact of several pieces replaces the content of the file. If there is no such artifact, the
// file stays unchanged.
func TestArtifactToAFile(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	const size = 3<<20 + 7
	code, out, errs := toolhost(t.Context(), env, "", "call", "large", fmt.Sprintf(`{"bytes":%d,"kind":"file"}`, size), "--max-shown", "100")
	handle := regexp.MustCompile(`artifact-[a-z0-9]+`).FindString(out)
	if code != cli.ExitOK || handle == "" || !strings.Contains(errs, "toolhost artifact "+handle) {
		t.Fatalf("code %d, %s, %s", code, out, errs)
	}
	file := filepath.Join(t.TempDir(), "large.bin")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := toolhost(t.Context(), env, "", "artifact", "artifact-none", "--file", file); code != cli.ExitInfrastructure {
		t.Errorf("code %d, %s", code, errs)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "before" {
		t.Errorf("a handle of nothing left %q, %v", got, err)
	}
	if code, out, errs := toolhost(t.Context(), env, "", "artifact", handle, "--file", file); code != cli.ExitOK || out+errs != "" {
		t.Fatalf("code %d, %s, %s", code, out, errs)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	code, want, errs := toolhost(t.Context(), env, "", "artifact", handle)
	if code != cli.ExitOK || len(got) != size || string(got) != want {
		t.Errorf("code %d, %s: %d bytes in the file, %d printed", code, errs, len(got), len(want))
	}
}
