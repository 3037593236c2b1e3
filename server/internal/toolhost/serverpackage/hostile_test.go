//go:build more && linux

package serverpackage

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// registry is a registry of npm and an index of Python whose packages a hostile author wrote. It
// knows when code of the author has run: the code requests a page, and writes a file of the
// operator.
type registry struct {
	*httptest.Server
	files  map[string][]byte         // by path
	packed map[string]map[string]any // the versions of npm's packages, by name
	wheels map[string][]string       // the files of Python's packages, by name
	ran    atomic.Bool
	home   string // of the operator
}

func newRegistry(t *testing.T) *registry {
	r := &registry{files: map[string][]byte{}, packed: map[string]map[string]any{}, wheels: map[string][]string{}, home: t.TempDir()}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path := strings.Trim(q.URL.Path, "/")
	if path == "ran" {
		r.ran.Store(true)
	}
	if versions, ok := r.packed[path]; ok {
		_ = json.NewEncoder(w).Encode(map[string]any{"name": path, "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": versions})
		return
	}
	if name, ok := strings.CutPrefix(path, "simple/"); ok && r.wheels[name] != nil {
		w.Header().Set("Content-Type", "text/html")
		for _, file := range r.wheels[name] {
			digest := sha256.Sum256(r.files[file])
			fmt.Fprintf(w, "<a href=\"/%s#sha256=%s\">%s</a>\n", file, hex.EncodeToString(digest[:]), file)
		}
		return
	}
	if data, ok := r.files[path]; ok {
		_, _ = w.Write(data)
		return
	}
	http.NotFound(w, q)
}

// node and python are what the author would like to run.
func (r *registry) node() string {
	return fmt.Sprintf("#!/usr/bin/env node\ntry { require('fs').writeFileSync(%q, '') } catch {}\nrequire('http').get(%q)\n", r.home+"/ran", r.URL+"/ran")
}

func (r *registry) python() string {
	return fmt.Sprintf("try:\n    open(%q, 'w')\nexcept OSError:\n    pass\nimport urllib.request\ntry:\n    urllib.request.urlopen(%q)\nexcept OSError:\n    pass\n",
		r.home+"/ran", r.URL+"/ran")
}

// quiet fails the test if code of the author has run.
func (r *registry) quiet(t *testing.T) {
	t.Helper()
	if _, err := os.Lstat(r.home + "/ran"); err == nil {
		t.Error("the author's code ran outside of the sandbox")
	}
	if r.ran.Load() {
		t.Error("the author's code ran in the sandbox")
	}
}

// tarball returns an archive of npm.
func tarball(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npm adds a package with the program index.js.
func (r *registry) npm(t *testing.T, name string, extra map[string]any, files map[string]string) (integrity string) {
	t.Helper()
	own := map[string]any{"name": name, "version": "1.0.0", "bin": map[string]string{name: "index.js"}}
	for key, value := range extra {
		own[key] = value
	}
	text, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"package.json": string(text), "index.js": "#!/usr/bin/env node\n"}
	for path, text := range files {
		all[path] = text
	}
	file := name + "-1.0.0.tgz"
	r.files[file] = tarball(t, all)
	digest := sha512.Sum512(r.files[file])
	integrity = "sha512-" + base64.StdEncoding.EncodeToString(digest[:])
	own["dist"] = map[string]string{"tarball": r.URL + "/" + file, "integrity": integrity}
	if files["npm-shrinkwrap.json"] != "" {
		own["_hasShrinkwrap"] = true
	}
	r.packed[name] = map[string]any{"1.0.0": own}
	return integrity
}

// repository returns a git repository whose .npmrc names a program as git, and that wants to be
// prepared.
func (r *registry) repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"name": "evil", "version": "1.0.0", "scripts": {"prepare": "node git.js", "preinstall": "node git.js"}, "dependencies": {"worse": "git+file://` + dir + `"}}`,
		".npmrc":       "git=./git.js\nignore-scripts=false\n", "git.js": r.node(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git: %v: %s", err, out)
		}
	}
	return "git+file://" + dir
}

// install installs a package with the operator's settings.
func (r *registry) install(t *testing.T, request *Request, lock string, environ ...string) (*Installed, string, error) {
	t.Helper()
	scratch, err := os.MkdirTemp("/tmp", "t") // a socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(scratch) })
	dir, inner := filepath.Join(scratch, "plugin"), filepath.Join(scratch, "i")
	for _, made := range []string{dir, inner} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if lock != "" {
		path := filepath.Join(scratch, "lock")
		if err := os.WriteFile(path, []byte(lock), 0o600); err != nil {
			t.Fatal(err)
		}
		lock = path
	}
	environ = append([]string{"HOME=" + r.home, "npm_config_registry=" + r.URL + "/", "PIP_INDEX_URL=" + r.URL + "/simple"}, environ...)
	done, err := request.Install(t.Context(), dir, Options{Scratch: inner, Environ: environ, Lock: lock})
	return done, dir, err
}

// TestHostileNPM checks that nothing of an author runs while npm resolves and installs a package,
// and that only archives of the registry are installed.
func TestHostileNPM(t *testing.T) {
	r := newRegistry(t)
	repository := r.repository(t)
	r.files["evil.tgz"] = tarball(t, map[string]string{
		"package.json": `{"name": "evil", "version": "1.0.0", "scripts": {"preinstall": "node x.js"}}`, "x.js": r.node(),
	})
	needs := func(spec string) map[string]any {
		return map[string]any{"dependencies": map[string]string{"evil": spec}}
	}
	r.npm(t, "good", nil, nil)
	honest := r.npm(t, "honest", map[string]any{"dependencies": map[string]string{"good": "^1.0.0"}}, nil)
	r.npm(t, "of-git", needs(repository), nil)
	r.npm(t, "of-url", needs(r.URL+"/evil.tgz"), nil)
	r.npm(t, "of-folder", needs("file:../../../../../.."+strings.TrimPrefix(repository, "git+file://")), nil)
	r.npm(t, "of-forge", needs("someone/evil#0123456789012345678901234567890123456789"), nil)
	r.npm(t, "optional", map[string]any{"optionalDependencies": map[string]string{"evil": repository}}, nil)
	r.npm(t, "scripts", map[string]any{"scripts": map[string]string{"preinstall": "node x.js", "install": "node x.js", "postinstall": "node x.js"}, "hasInstallScript": true},
		map[string]string{"x.js": r.node(), ".npmrc": "ignore-scripts=false\n"})
	r.npm(t, "shrinkwrap", map[string]any{"dependencies": map[string]string{"evil": "*"}}, map[string]string{
		"npm-shrinkwrap.json": `{"name": "shrinkwrap", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "shrinkwrap", "version": "1.0.0", "dependencies": {"evil": "*"}},
			"node_modules/evil": {"version": "1.0.0", "resolved": "` + repository + `#main"}}}`,
	})
	for _, name := range []string{"of-git", "of-url", "of-folder", "of-forge", "optional", "scripts", "shrinkwrap"} {
		if done, _, err := r.install(t, &Request{Registry: NPM, Spec: name}, ""); err == nil {
			t.Errorf("%s is installed: %+v", name, done)
		} else {
			t.Log(err)
		}
		r.quiet(t)
	}
	done, dir, err := r.install(t, &Request{Registry: NPM, Spec: "honest"}, "")
	if err != nil || done.Packages != 2 || done.Version != "1.0.0" {
		t.Fatalf("an honest package: %+v, %v", done, err)
	}
	pins, err := os.ReadFile(filepath.Join(dir, npmPins))
	if err != nil || !strings.Contains(string(pins), honest) {
		t.Fatalf("the pins are %s, %v", pins, err)
	}
	if done, _, err := r.install(t, &Request{Registry: NPM, Spec: "honest"}, string(pins)); err != nil || done.Packages != 2 {
		t.Errorf("with its own pins: %+v, %v", done, err)
	}

	bundle := map[string]any{"dependencies": map[string]string{"good": "*"}, "bundleDependencies": []string{"good"}}
	inner := map[string]string{"node_modules/good/package.json": `{"name": "good", "version": "1.0.0"}`, "node_modules/good/bundled": ""}
	r.npm(t, "bundler", bundle, inner)
	r.npm(t, "liar", bundle, nil)
	if done, dir, err := r.install(t, &Request{Registry: NPM, Spec: "bundler"}, ""); err != nil || done.Packages != 2 {
		t.Errorf("a package with a bundle: %+v, %v", done, err)
	} else if _, err := os.Stat(filepath.Join(dir, "node_modules/bundler/node_modules/good/bundled")); err != nil {
		t.Error(err)
	}
	if _, dir, err := r.install(t, &Request{Registry: NPM, Spec: "liar"}, ""); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "node_modules/liar/node_modules/good")); err == nil {
			t.Error("npm has fetched what should have been in a bundle")
		}
	}

	own := `"": {"dependencies": {"honest": "1.0.0"}}, "node_modules/good": ` + string(r.locked(t, "good")) + `, "node_modules/honest": {"version": "1.0.0", "integrity": "` + honest + `", "bundleDependencies": ["evil"], "dependencies": {"good": "^1.0.0", "evil": "*"}, "bin": {"honest": "index.js"}}`
	for name, entry := range map[string]string{
		"in a bundle":                 `"node_modules/honest/node_modules/evil": {"version": "1.0.0", "inBundle": true, "resolved": "` + repository + `#main"}`,
		"in no bundle":                `"node_modules/evil": {"version": "1.0.0", "inBundle": true, "resolved": "` + repository + `#main"}`,
		"a repository with a hash":    `"node_modules/evil": {"version": "1.0.0", "integrity": "` + honest + `", "resolved": "` + repository + `#main"}`,
		"a repository as the version": `"node_modules/evil": {"version": "` + repository + `#main", "integrity": "` + honest + `"}`,
		"a link":                      `"node_modules/evil": {"version": "1.0.0", "link": true, "resolved": "../../../evil"}`,
		"another archive":             `"node_modules/evil": {"name": "good", "version": "1.0.0", "integrity": "` + honest + `"}`,
		"a garbled hash":              `"node_modules/evil": {"name": "good", "version": "1.0.0", "integrity": "sha512-x"}`,
		"outside":                     `"../evil": {"version": "1.0.0", "integrity": "` + honest + `"}`,
	} {
		if done, dir, err := r.install(t, &Request{Registry: NPM, Spec: "honest"}, `{"lockfileVersion": 3, "packages": {`+own+`, `+entry+`}}`); err == nil {
			text, _ := os.ReadFile(filepath.Join(dir, npmHidden))
			t.Errorf("%s: it is installed: %+v\n%s", name, done, text)
		} else {
			t.Log(name, err)
		}
		r.quiet(t)
	}
}

// locked returns the entry of a package in a lock file.
func (r *registry) locked(t *testing.T, name string) []byte {
	t.Helper()
	version := r.packed[name]["1.0.0"].(map[string]any)
	text, err := json.Marshal(map[string]any{"version": "1.0.0", "integrity": version["dist"].(map[string]string)["integrity"]})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// wheel adds a wheel of a package with the program of its name.
func (r *registry) wheel(t *testing.T, name string, metadata string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range [][2]string{
		{name + "/__init__.py", "def main(): pass\n"}, {name + "-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{name + "-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n" + metadata},
		{name + "-1.0.dist-info/entry_points.txt", "[console_scripts]\n" + name + " = " + name + ":main\n"}, {name + "-1.0.dist-info/RECORD", ""},
	} {
		to, err := w.Create(file[0])
		if err == nil {
			_, err = to.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := name + "-1.0-py3-none-any.whl"
	r.files[file] = b.Bytes()
	r.wheels[name] = []string{file}
	return file
}

// TestHostilePyPI checks that nothing of an author runs while pip resolves and installs a package,
// and that only wheels of the index are installed.
func TestHostilePyPI(t *testing.T) {
	r := newRegistry(t)
	source := tarball(t, map[string]string{"setup.py": r.python(), "PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n"})
	r.files["evil-1.0.tar.gz"] = source
	r.files["backend-1.0.tar.gz"] = tarball(t, map[string]string{
		"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = \"evil\"\nbackend-path = [\".\"]\n", "evil.py": r.python(),
	})
	r.wheels["sources"] = []string{"sources-1.0.tar.gz"}
	r.files["sources-1.0.tar.gz"] = source
	r.files["other-"+r.wheel(t, "other", "")] = nil
	r.wheel(t, "honest", "")
	for name, needs := range map[string]string{
		"ofsource":  "evil @ " + r.URL + "/evil-1.0.tar.gz",
		"ofbackend": "backend @ " + r.URL + "/backend-1.0.tar.gz",
		"ofgit":     "evil @ git+" + r.URL + "/evil.git@main",
		"offile":    "evil @ file:///etc/passwd.tar.gz",
		"ofwheel":   "other @ " + r.URL + "/other-1.0-py3-none-any.whl",
		"ofsdist":   "sources",
	} {
		r.wheel(t, name, "Requires-Dist: "+needs+"\n")
		if done, _, err := r.install(t, &Request{Registry: PyPI, Spec: name}, ""); err == nil {
			t.Errorf("%s is installed: %+v", name, done)
		} else {
			t.Log(err)
		}
		r.quiet(t)
	}
	done, dir, err := r.install(t, &Request{Registry: PyPI, Spec: "honest", With: []string{"other"}}, "")
	if err != nil || done.Packages != 2 || done.Version != "1.0" {
		t.Fatalf("an honest package: %+v, %v", done, err)
	}
	if out, err := exec.Command(filepath.Join(dir, done.Command[0]), filepath.Join(dir, done.Command[1])).CombinedOutput(); err != nil {
		t.Errorf("it does not run: %v: %s", err, out)
	}
}
