package docs

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wheels returns a folder with the Python packages of the SDK's lock file, which the pages and the
// build of the SDK need. It downloads them once, into the ignored .build/docs of the checkout. If
// the download fails, wheels skips the test.
func wheels(t *testing.T) string {
	t.Helper()
	python := setUps["python"]().ready
	requirements := filepath.Join(root(t), "sdk/python/requirements.lock")
	text, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(output(t, python, "-VV") + "\n" + string(text)))
	want := hex.EncodeToString(sum[:])
	dir := filepath.Join(root(t), ".build", "docs", "wheels")
	stamp := dir + ".stamp"
	defer lock(t, dir+".lock")()
	if have, err := os.ReadFile(stamp); err != nil || string(have) != want {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		download := exec.CommandContext(t.Context(), python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
			"--only-binary", ":all:", "--require-hashes", "--requirement", requirements, "--dest", dir)
		if out, err := download.CombinedOutput(); err != nil {
			t.Skipf("the page is not tested, because what it needs cannot be downloaded: %s", lastLine(string(out)))
		}
		if err := os.WriteFile(stamp, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// reached skips the test if npm cannot reach its registry. The reader calls it after a failed
// script, because that script may have needed a download.
func (r *reader) reached(t *testing.T, p page) {
	t.Helper()
	if p.language() != "typescript" {
		return
	}
	view := exec.CommandContext(t.Context(), "npm", "view", "typescript", "version", "--prefer-online", "--fetch-retries=0", "--fetch-timeout=30000", "--loglevel=error")
	view.Dir, view.Env = r.home, r.env
	if out, err := view.CombinedOutput(); err != nil {
		t.Skipf("the page is not tested, because what it needs cannot be downloaded: %v: %s", err, lastLine(string(out)))
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
