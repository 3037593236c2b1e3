package docs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// most is the maximum number of commands from an empty folder to a tool that a model uses.
const most = 5

// fromNothing follows a page that explains how to write a tool in a language. It plays an author
// with toolhost's programs but without a checkout. The author starts in an empty folder, calls the
// tool, lets a model use it, and uninstalls it. Then a colleague clones the author's repository
// into another folder and installs the tool.
func fromNothing(t *testing.T, p page, language string) {
	r := newReader(t, "work", p.language())
	r.then = func() {
		r.usedByAModel(t, p)
		if count := commandsToTheFirstCall(p) + 1; count > most {
			t.Errorf("%s: it takes %d commands until a model uses the tool, want at most %d", p.name, count, most)
		}
		if language == "python" {
			r.keepsBytecode(t)
		}
	}
	r.follow(t, p)
	if r.then != nil {
		t.Errorf("%s shows no output of a call", p.name)
	}
	gone := r.script(t, p, block{language: "sh", words: []string{"exit=3"}, text: "toolhost call counter_count_words '{}'\n"})
	if !strings.Contains(gone, "not_found") {
		t.Errorf("a tool that was uninstalled answers %s", gone)
	}
	r.namesNothingOutside(t)
	r.isUpgraded(t, p)
	r.isCloned(t, p, language)
	if language != "go" { // call-over-grpc.md does so for Go
		r.isCalled(t, p, language)
	}
}

// namesNothingOutside checks that no file of the new repository contains a path of this machine,
// and that the program toolhost does not contain the path where it was built.
func (r *reader) namesNothingOutside(t *testing.T) {
	t.Helper()
	program, err := os.ReadFile(filepath.Join(bin, "toolhost"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(program), root(t)) {
		t.Errorf("the program toolhost names %s", root(t))
	}
	tracked := r.script(t, page{}, block{language: "sh", text: "cd counter && git init --quiet && git add --all && git ls-files\n"})
	for name := range strings.Lines(tracked) {
		text, err := os.ReadFile(filepath.Join(r.dir, "counter", strings.TrimSpace(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, outside := range []string{root(t), r.home, bin} {
			if strings.Contains(string(text), outside) {
				t.Errorf("counter/%s names %s", strings.TrimSpace(name), outside)
			}
		}
	}
}

// isUpgraded commits the repository, changes it into one of an earlier version, and upgrades it.
// The result must equal the first commit, except for npm's lock file, which the next installation
// completes.
func (r *reader) isUpgraded(t *testing.T, p page) {
	t.Helper()
	const commit = "git -C counter add --all && git -C counter -c user.name=a -c user.email=a@example.com commit --quiet --message change\n"
	r.script(t, p, block{language: "sh", text: commit})
	dir := filepath.Join(r.dir, "counter")
	for _, name := range []string{"go.mod", "requirements.txt", "package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		older := strings.NewReplacer("toolhost v0.1.0", "toolhost v0.0.9", "sdk-0.1.0", "sdk-0.0.9").Replace(string(text))
		r.write(t, filepath.Join(dir, name), older)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "third_party", "*sdk-0.1.0*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range archives {
		if err := os.Rename(archive, strings.Replace(archive, "sdk-0.1.0", "sdk-0.0.9", 1)); err != nil {
			t.Fatal(err)
		}
	}
	r.script(t, p, block{language: "sh", text: "! toolhost new --upgrade counter\n" + commit})
	output := r.script(t, p, block{language: "sh", text: "toolhost new --upgrade counter && git -C counter add --all && git -C counter diff --cached --exit-code HEAD~1 -- . ':!package-lock.json'\n"})
	if !strings.Contains(output, "SDK from 0.0.9 to 0.1.0:\n") {
		t.Errorf("the upgrade says %s", output)
	}
}

// plain contains, by language, commands that build and test a repository without its Makefile.
var plain = map[string]string{
	"go": "cp go.mod before && go build ./... && go test ./... && go mod tidy && cmp go.mod before",
}

// isCloned commits the author's repository, clones it into a folder of another name, removes the
// original, and builds, tests and installs the clone.
func (r *reader) isCloned(t *testing.T, p page, language string) {
	t.Helper()
	r.script(t, p, block{language: "sh", text: "git -C counter -c user.name=a -c user.email=a@example.com commit --quiet --all --message upgraded\n" +
		"git clone --quiet counter ../colleague && rm -r counter && cd ../colleague\n" +
		"! git ls-files | grep -e node_modules -e dist/ -e .venv\n" +
		cmp.Or(plain[language], "true") + "\nmake lint test verify install\n"})
	counted := r.script(t, p, block{language: "sh", text: "toolhost call counter_count_words '{\"text\":\"kept in a clone\"}'\n"})
	if !strings.Contains(counted, `"words":4`) {
		t.Errorf("what the colleague has installed says %s", counted)
	}
}

// isCalled writes a caller in the language, checks and tests it, and calls the colleague's tool
// with it.
func (r *reader) isCalled(t *testing.T, p page, language string) {
	t.Helper()
	program := map[string]string{"python": ".venv/bin/python main.py", "typescript": "node build/caller/main.cjs"}[language]
	counted := r.script(t, p, block{language: "sh", text: "toolhost new caller --caller --lang " + language + "\nmake -C caller build lint test\n" +
		"cd caller && " + program + " counter_count_words '{\"text\":\"called by a program\"}'\n"})
	if !strings.Contains(counted, `"words":4`) {
		t.Errorf("the caller prints %s", counted)
	}
}

// commandsToTheFirstCall returns the number of commands before the first output that the page
// shows.
func commandsToTheFirstCall(p page) int {
	end := slices.IndexFunc(p.blocks, func(b block) bool { return b.language == "output" })
	return commands(page{blocks: p.blocks[:end]})
}

// model is the script of a model that calls the tool. Its answer quotes the result of the tool.
const model = `turns:
  - calls: [{id: count, tool: counter_count_words, arguments: {text: "{{prompt}}", longest: 1}}]
  - text: 'I counted: {{result "count"}}'
`

// usedByAModel runs agentd with a model that calls the tool on a random text.
func (r *reader) usedByAModel(t *testing.T, p page) {
	t.Helper()
	text, words := saying()
	r.write(t, filepath.Join(r.dir, "model.yaml"), model)
	output := r.script(t, p, block{language: "sh", text: "agentd run --model scripted:model.yaml '" + text + "'\n"})
	if want := fmt.Sprintf(`I counted: {"words":%d,"longest":["unmistakable"]}`, words); !strings.Contains(output, want) {
		t.Errorf("the run says %q, want %s in it", output, want)
	}
}

// saying returns a random text, and the number of words in it.
func saying() (text string, words int) {
	words = 100 + rand.IntN(400)
	all := []string{"unmistakable"}
	for len(all) < words {
		all = append(all, fmt.Sprintf("w%d", rand.IntN(1_000_000)))
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all, ", "), words
}

// keepsBytecode checks that toolhost keeps the bytecode that Python compiled when toolhost asked
// the plugin for its definitions. Later processes of the plugin load it.
func (r *reader) keepsBytecode(t *testing.T) {
	t.Helper()
	caches, err := filepath.Glob(filepath.Join(r.home, ".local", "state", "toolhost", "store", "*", "cache", "python"))
	if err != nil || len(caches) != 1 {
		t.Fatalf("what was compiled is kept in %q, %v; want one folder", caches, err)
	}
	compiled := 0
	err = filepath.WalkDir(caches[0], func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".pyc") {
			compiled++
		}
		return err
	})
	if err != nil || compiled < 50 {
		t.Errorf("%d compiled sources are kept, %v; want those of the SDK and its libraries", compiled, err)
	}
}
