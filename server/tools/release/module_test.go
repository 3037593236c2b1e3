package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/zip"
)

// The module of a release has the checksum that the go command computes for the tag of a
// repository. Both leave out nested modules and symbolic links, and both ignore git's attributes
// for archives.
func TestModuleEqualsTag(t *testing.T) {
	repository := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module github.com/toolhost/toolhost\n\ngo 1.26.0\n", "LICENSE": "free\n", "tool/tool.go": "package tool\n",
		"bench/go.mod": "module github.com/toolhost/toolhost/bench\n", "bench/bench.go": "package bench\n",
		"vendor/modules.txt": "# none\n", "docs/page.md": "# Page\r\n", ".gitattributes": "docs export-ignore\n", "run.sh": "#!/bin/sh\n",
	} {
		path := filepath.Join(repository, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("LICENSE", filepath.Join(repository, "COPYING")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "first"},
		{"-c", "tag.gpgsign=false", "tag", "v0.1.0"},
	} {
		if _, err := git(t.Context(), repository, args...); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := git(t.Context(), repository, "ls-files")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{source: source{root: repository, version: "0.1.0", time: time.Unix(0, 0).UTC(), files: strings.Split(listed, "\n")}, dir: t.TempDir()}
	if _, err := r.goModule(); err != nil {
		t.Fatal(err)
	}
	fetched, served := download(t, "direct", repository), download(t, "file://"+filepath.Join(r.dir, goProxy), repository)
	if fetched.Sum == "" || fetched.Sum != served.Sum || fetched.GoModSum != served.GoModSum {
		t.Errorf("the tag has the checksum %s, and the release %s", fetched.Sum, served.Sum)
	}
	written, err := os.ReadFile(filepath.Join(r.dir, goProxy, "github.com/toolhost/toolhost/@v/v0.1.0.ziphash"))
	if err != nil || string(written) != fetched.Sum {
		t.Errorf("the release names the checksum %s, %v", written, err)
	}
}

// The go command refuses a module with names that a file system of another platform does not allow,
// such as nul.txt. So no tracked file has such a name.
func TestModuleHasValidNames(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	listed, err := listFiles(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for _, name := range listed {
		files = append(files, moduleFile{root: root, name: name})
	}
	checked, err := zip.CheckFiles(files)
	if err != nil || len(checked.Valid) < 1000 {
		t.Errorf("%d valid files, %v", len(checked.Valid), err)
	}
}

// downloaded is what the go command prints about a module.
type downloaded struct{ Sum, GoModSum string }

// download fetches the module into an empty module cache. The forge's address leads to the
// repository.
func download(t *testing.T, proxy, repository string) downloaded {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/toolhost/toolhost@v0.1.0")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOPROXY="+proxy, "GONOSUMDB=*", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw", "GOWORK=off",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+repository+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/toolhost/toolhost")
	printed, err := output(cmd)
	if err != nil {
		t.Fatal(err)
	}
	var d downloaded
	if err := json.Unmarshal([]byte(printed), &d); err != nil {
		t.Fatal(err)
	}
	return d
}
