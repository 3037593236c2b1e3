package programs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// what is the smallest program of the repository.
const what = "./internal/e2e/testplugins/versionplugin"

func TestTestsDoNotShareFolders(t *testing.T) {
	one, other := t.TempDir(), filepath.Join(t.TempDir(), "made", "by", "it")
	for _, dir := range []string{one, other} {
		if err := programs.Build(t.Context(), dir, what); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(one, "versionplugin"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := programs.Build(t.Context(), t.TempDir(), what); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(other, "versionplugin"))
	if err != nil || info.Size() == 0 || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the other's program is %v, %v", info, err)
	}
}

func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source := write("main.go.txt", "package main\n\nfunc main() { print(\"other\") }\n")
	none := write("none.go.txt", "package main\n")
	overlay := write("overlay.json", `{"Replace":{"`+root+`/server/internal/e2e/testplugins/versionplugin/main.go":"`+source+`","`+root+`/server/internal/e2e/testplugins/versionplugin/draft.go":"`+none+`"}}`)
	if err := programs.BuildOverlaid(t.Context(), overlay, dir, what); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), filepath.Join(dir, "versionplugin")).CombinedOutput()
	if err != nil || string(output) != "other" {
		t.Errorf("it says %q, %v", output, err)
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	if err := programs.Build(t.Context(), t.TempDir(), "./internal/e2e/nothing"); err == nil {
		t.Error("there is nothing to build, and no error")
	}
}
