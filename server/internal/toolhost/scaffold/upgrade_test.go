//go:build !race

package scaffold_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/scaffold"
)

// older contains, for each language, the changes that turn a new repository into one of version
// 0.0.9: texts to replace in a file, and files to rename.
var older = map[string]struct {
	texts   map[string][]string // old and new texts, by file
	renamed map[string]string
	changes []scaffold.Change
}{
	"go": {
		texts: map[string][]string{
			"go.mod": {"toolhost v0.1.0", "toolhost v0.0.9", "require (\n", "require (\n\texample.com/mine v1.2.3\n", "google.golang.org/grpc v1.", "google.golang.org/grpc v1.1"},
			"go.sum": {"github.com/fatih/color", "example.com/color"},
		},
		renamed: map[string]string{"third_party/toolhost-sdk/tool/doc.go": "third_party/toolhost-sdk/old/doc.go"},
		changes: []scaffold.Change{
			{File: "go.mod", Action: scaffold.Changed}, {File: "go.sum", Action: scaffold.Changed},
			{File: "third_party/toolhost-sdk/old/doc.go", Action: scaffold.Removed},
			{File: "third_party/toolhost-sdk/tool/doc.go", Action: scaffold.Added},
		},
	},
	"python": {
		texts:   map[string][]string{"requirements.txt": {"toolhost_sdk-0.1.0", "toolhost_sdk-0.0.9", ".whl\n", ".whl # pinned\nhttpx>=0.28\n"}},
		renamed: map[string]string{"third_party/toolhost_sdk-0.1.0-py3-none-any.whl": "third_party/toolhost_sdk-0.0.9-py3-none-any.whl"},
		changes: []scaffold.Change{
			{File: "requirements.txt", Action: scaffold.Changed},
			{File: "third_party/toolhost_sdk-0.0.9-py3-none-any.whl", Action: scaffold.Removed},
			{File: "third_party/toolhost_sdk-0.1.0-py3-none-any.whl", Action: scaffold.Added},
		},
	},
	"typescript": {
		texts:   map[string][]string{"package.json": {"toolhost-sdk-0.1.0", "toolhost-sdk-0.0.9", `"zod":`, `"left-pad":  "1.3.0",` + "\n\t" + `"zod":`}},
		renamed: map[string]string{"third_party/toolhost-sdk-0.1.0.tgz": "third_party/toolhost-sdk-0.0.9.tgz"},
		changes: []scaffold.Change{
			{File: "package-lock.json", Action: scaffold.Changed}, {File: "package.json", Action: scaffold.Changed},
			{File: "third_party/toolhost-sdk-0.0.9.tgz", Action: scaffold.Removed},
			{File: "third_party/toolhost-sdk-0.1.0.tgz", Action: scaffold.Added},
		},
	},
}

// lockFile is npm's lock file of an older repository.
const lockFile = `{
  "packages": {
    "": {
      "dependencies": {
        "@toolhost/sdk": "file:third_party/toolhost-sdk-0.0.9.tgz",
        "zod": "^4.2.0"
      }
    },
    "node_modules/@toolhost/sdk": {
      "version": "0.0.9",
      "integrity": "sha512-old"
    },
    "node_modules/zod": {
      "version": "4.6.7"
    }
  }
}
`

// olderRepository writes a repository of version 0.0.9 with texts and files of its author.
func olderRepository(t *testing.T, language string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if _, err := scaffold.Write(scaffold.Config{Name: "my-Weather", Language: language, Dir: dir, Sources: toolhost.Sources()}); err != nil {
		t.Fatal(err)
	}
	for name, pairs := range older[language].texts {
		text := read(t, dir, name)
		after := strings.NewReplacer(pairs...).Replace(text)
		if after == text {
			t.Fatalf("%s does not contain %q", name, pairs)
		}
		write(t, dir, name, after)
	}
	for from, to := range older[language].renamed {
		write(t, dir, to, read(t, dir, from))
		if err := os.Remove(filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if language == "typescript" {
		write(t, dir, "package-lock.json", lockFile)
	}
	write(t, dir, "third_party/mine.txt", "mine")
	write(t, dir, "README.md", "mine")
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An upgrade replaces the SDK and the lines that name its version. It keeps the lines and files of
// the author. A second upgrade finds nothing to change. The tests in server/internal/e2e/docs build
// and test an upgraded repository.
func TestUpgrade(t *testing.T) {
	for _, language := range scaffold.Languages() {
		t.Run(language, func(t *testing.T) {
			dir := olderRepository(t, language)
			u, err := scaffold.OpenUpgrade(dir, toolhost.Sources(), false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]scaffold.UpgradedSDK{{Language: language, From: "0.0.9", To: "0.1.0"}}, u.SDKs); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(older[language].changes, u.Changes); diff != "" {
				t.Error(diff)
			}
			if slices.ContainsFunc(u.Overwrites(), func(name string) bool { return !exists(dir, name) }) {
				t.Errorf("a file that does not exist is overwritten: %q", u.Overwrites())
			}
			if err := u.Apply(); err != nil {
				t.Fatal(err)
			}
			for name, pairs := range older[language].texts {
				text := read(t, dir, name)
				if strings.Contains(text, "0.0.9") {
					t.Errorf("%s still names 0.0.9:\n%s", name, text)
				}
				for i := 3; i < len(pairs); i += 4 { // what the author added
					if added := strings.TrimPrefix(pairs[i], pairs[i-1]); !strings.Contains(text, strings.TrimSpace(added)) {
						t.Errorf("%s lacks %q of the author:\n%s", name, added, text)
					}
				}
			}
			if read(t, dir, "third_party/mine.txt") != "mine" || read(t, dir, "README.md") != "mine" {
				t.Error("a file of the author changed")
			}
			if exists(dir, "third_party/toolhost-sdk/old") {
				t.Error("an empty folder of the earlier SDK remains")
			}
			if again, err := scaffold.OpenUpgrade(dir, toolhost.Sources(), false); err != nil || len(again.Changes) != 0 {
				t.Errorf("a second upgrade changes %v, %v", again, err)
			}
		})
	}
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// An upgrade of a Go repository keeps the author's checksums and a later version that the author
// chose, and raises an earlier version that the SDK cannot use.
func TestUpgradeOfGoModules(t *testing.T) {
	dir := olderRepository(t, "go")
	mod := read(t, dir, "go.mod")
	mod = strings.Replace(mod, "github.com/oklog/run v1.1.0", "github.com/oklog/run v1.0.0", 1)
	mod = strings.Replace(mod, "golang.org/x/text v0.", "golang.org/x/text v0.9", 1)
	write(t, dir, "go.mod", mod)
	upgraded(t, dir, false)
	mod = read(t, dir, "go.mod")
	for _, want := range []string{
		"github.com/oklog/run v1.1.0 // indirect\n", "golang.org/x/text v0.9", "google.golang.org/grpc v1.1",
		"\nreplace github.com/toolhost/toolhost v0.1.0 => ./third_party/toolhost-sdk\n",
	} {
		if !strings.Contains(mod, want) {
			t.Errorf("go.mod lacks %q:\n%s", want, mod)
		}
	}
	sum := read(t, dir, "go.sum")
	for _, want := range []string{"example.com/color v1.", "github.com/fatih/color v1."} {
		if !strings.Contains(sum, want) {
			t.Errorf("go.sum lacks %q", want)
		}
	}
}

// An upgrade removes the checksum of the earlier SDK from the lock file, and keeps the other
// entries.
func TestUpgradeOfLockFile(t *testing.T) {
	dir := olderRepository(t, "typescript")
	upgraded(t, dir, false)
	want := `{
  "packages": {
    "": {
      "dependencies": {
        "@toolhost/sdk": "file:third_party/toolhost-sdk-0.1.0.tgz",
        "zod": "^4.2.0"
      }
    },
    "node_modules/zod": {
      "version": "4.6.7"
    }
  }
}
`
	if diff := cmp.Diff(want, read(t, dir, "package-lock.json")); diff != "" {
		t.Error(diff)
	}
	// Simulate the next `npm install`, which completes the lock file. An upgrade to the same SDK
	// keeps it.
	write(t, dir, "package-lock.json", strings.ReplaceAll(lockFile, "0.0.9", "0.1.0"))
	upgraded(t, dir, false)
	if text := read(t, dir, "package-lock.json"); !strings.Contains(text, "sha512-old") {
		t.Errorf("the lock file lost the checksum of the SDK: %s", text)
	}
}

// An upgrade to a published SDK removes the copy, and an upgrade with --offline brings it back.
func TestUpgradeChangesTheOrigin(t *testing.T) {
	for language, want := range map[string]string{
		"go": "require github.com/toolhost/toolhost v0.1.0\n", "python": "toolhost-sdk==0.1.0 # pinned\n", "typescript": `"@toolhost/sdk": "0.1.0",`,
	} {
		dir := olderRepository(t, language)
		upgraded(t, dir, true)
		named := map[string]string{"go": "go.mod", "python": "requirements.txt", "typescript": "package.json"}[language]
		if text := read(t, dir, named); !strings.Contains(text, want) || strings.Contains(text, "third_party") {
			t.Errorf("%s: %s", named, text)
		}
		if exists(dir, carried[language]) || exists(dir, "third_party/toolhost-sdk") {
			t.Errorf("%s: the repository contains the SDK still", language)
		}
		upgraded(t, dir, false)
		if text := read(t, dir, named); !strings.Contains(text, "third_party/toolhost") || !exists(dir, carried[language]) {
			t.Errorf("%s: the SDK did not come back: %s", language, text)
		}
	}
}

func upgraded(t *testing.T, dir string, online bool) {
	t.Helper()
	u, err := scaffold.OpenUpgrade(dir, toolhost.Sources(), online)
	if err == nil {
		err = u.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An upgrade refuses a folder that it does not know. It also refuses to undo a decision of the
// author.
func TestUpgradeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       error
	}{
		"an empty folder":        {"note", "", scaffold.ErrUnknown},
		"another module":         {"go.mod", "module example.com/a\n\nrequire example.com/b v1.0.0\n", scaffold.ErrUnknown},
		"toolhost itself":        {"go.mod", "module github.com/toolhost/toolhost\n", scaffold.ErrUnknown},
		"a broken go.mod":        {"go.mod", "module example.com/a\nrequire (\n", scaffold.ErrUnknown},
		"a linked Go SDK":        {"go.mod", "module a\nrequire github.com/toolhost/toolhost v0.1.0\nreplace github.com/toolhost/toolhost => ../toolhost\n", scaffold.ErrLinked},
		"a fork of the Go SDK":   {"go.mod", "module a\nrequire github.com/toolhost/toolhost v0.1.0\nreplace github.com/toolhost/toolhost => example.com/fork v1.0.0\n", scaffold.ErrUnknown},
		"a newer Go SDK":         {"go.mod", "module a\nrequire github.com/toolhost/toolhost v0.2.0\n", scaffold.ErrNewer},
		"other requirements":     {"requirements.txt", "toolhost-sdkish==1\n", scaffold.ErrUnknown},
		"a range of Python SDKs": {"requirements.txt", "toolhost_sdk >= 0.1\n", scaffold.ErrUnknown},
		"a linked Python SDK":    {"requirements.txt", "# the SDK\n../toolhost/sdk/python\n", scaffold.ErrLinked},
		"a newer Python SDK":     {"requirements.txt", "toolhost-sdk==1.0.0\n", scaffold.ErrNewer},
		"another package":        {"package.json", `{"dependencies": {"zod": "4"}}`, scaffold.ErrUnknown},
		"a broken package.json":  {"package.json", `{"dependencies": {"zod"`, scaffold.ErrUnknown},
		"a linked npm SDK":       {"package.json", `{"dependencies": {"@toolhost/sdk": "file:../toolhost/sdk/typescript"}}`, scaffold.ErrLinked},
		"any npm SDK":            {"package.json", `{"dependencies": {"@toolhost/sdk": "*"}}`, scaffold.ErrUnknown},
		"a newer npm SDK":        {"package.json", `{"dependencies": {"@toolhost/sdk": "^0.1.1"}}`, scaffold.ErrNewer},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.file, c.text)
			if u, err := scaffold.OpenUpgrade(dir, toolhost.Sources(), false); !errors.Is(err, c.want) {
				t.Errorf("got %v, %v; want the error %q", u, err, c.want)
			}
		})
	}
}

// A repository from elsewhere can have a symbolic link in the place of a file. An upgrade writes
// nothing through it outside of the repository.
func TestUpgradeStaysInside(t *testing.T) {
	dir, outside := olderRepository(t, "python"), t.TempDir()
	if err := os.RemoveAll(filepath.Join(dir, "third_party")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "third_party")); err != nil {
		t.Fatal(err)
	}
	u, err := scaffold.OpenUpgrade(dir, toolhost.Sources(), false)
	if err == nil {
		err = u.Apply()
	}
	if err == nil {
		t.Error("the upgrade wrote through a link")
	}
	if text := read(t, dir, "requirements.txt"); !strings.Contains(text, "0.0.9") {
		t.Errorf("requirements.txt names an SDK that is not there: %s", text)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("the folder outside holds %v, %v", entries, err)
	}
}

// A repository from elsewhere can contain links and pipes. An upgrade reads and writes only files,
// under their own names.
func TestUpgradeChangesOnlyFiles(t *testing.T) {
	for name, plant := range map[string]func(dir string) error{
		"a link to a file inside": func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "requirements.txt"), filepath.Join(dir, "real.txt")), os.Symlink("real.txt", filepath.Join(dir, "requirements.txt")))
		},
		"a link to a folder inside": func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "third_party"), filepath.Join(dir, "real")), os.Symlink("real", filepath.Join(dir, "third_party")))
		},
		"a pipe": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "requirements.txt")), syscall.Mkfifo(filepath.Join(dir, "requirements.txt"), 0o600))
		},
		"a huge file": func(dir string) error { return os.Truncate(filepath.Join(dir, "requirements.txt"), 1<<40) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := olderRepository(t, "python")
			if err := plant(dir); err != nil {
				t.Fatal(err)
			}
			if u, err := scaffold.OpenUpgrade(dir, toolhost.Sources(), false); !errors.Is(err, scaffold.ErrUnknown) {
				t.Errorf("got %v, %v", u, err)
			}
		})
	}
}

// An upgrade replaces files as a whole: a file that is read-only is replaced too and keeps its
// permissions, and the rest of an interrupted upgrade is removed.
func TestUpgradeReplacesFilesAsAWhole(t *testing.T) {
	dir := olderRepository(t, "python")
	path := filepath.Join(dir, "requirements.txt")
	before, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	write(t, dir, "requirements.txt.toolhost-upgrade", "a part")
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	upgraded(t, dir, false)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o440 || !strings.Contains(read(t, dir, "requirements.txt"), "0.1.0") {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	if old, err := io.ReadAll(before); err != nil || !strings.Contains(string(old), "0.0.9") {
		t.Errorf("the upgrade wrote into the old file: %q, %v", old, err)
	}
	if exists(dir, "requirements.txt.toolhost-upgrade") {
		t.Error("the rest of an interrupted upgrade remains")
	}
}
