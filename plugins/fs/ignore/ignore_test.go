package ignore_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/plugins/fs/ignore"
)

// Paths that end with a slash are folders.
var cases = []struct {
	rules         string
	ignored, kept string
}{
	{"*.log", "a.log sub/b.log .log sub.log/", "a.log.txt log a.lo"},
	{"*", "a sub/b sub/", ""},
	{"name", "name sub/name name/ sub/name/", "names sub/aname"},
	{"name/", "name/ sub/name/", "name sub/name"},
	{"/name", "name name/", "sub/name"},
	{"/name/", "name/", "sub/name/ name"},
	{"sub/name", "sub/name sub/name/", "name x/sub/name"},
	{"sub/*.go", "sub/a.go", "a.go sub/x/a.go x/sub/a.go"},
	{"**/name", "name sub/name a/b/name", "names"},
	{"**/sub/name", "sub/name a/sub/name a/b/sub/name", "name"},
	{"sub/**", "sub/a sub/b/c", "sub/ a/sub/b"},
	{"a/**/b", "a/b a/x/b a/x/y/b", "b x/a/b ab"},
	{"a**b", "ab axxb x/axb", "a/b"},
	{"x/a**b", "x/ab x/acb", "x/a/b"},
	{"*.log\n!keep.log", "a.log", "keep.log sub/keep.log"},
	{"*.log\n!keep.log\nkeep.log", "a.log keep.log", ""},
	{"/*\n!/src", "a build/", "src/ src src/a"},
	{"# comment\n\n  \nname", "name", "# comment"},
	{"\\#name\n\\!name", "#name !name", "name"},
	{"name  ", "name", ""},
	{"name\\ ", "", "name"},
	{"name\\\\ ", "name\\", "name"},
	{"name\r\nother\r", "name other", ""},
	{"\xef\xbb\xbfname", "name", ""},
	{"[ab]c", "ac bc", "cc c"},
	{"[!ab]c", "cc dc", "ac bc"},
	{"[^ab]c", "cc", "ac"},
	{"[]a]c", "]c ac", "c bc"},
	{"[a-c]x", "ax bx cx", "dx -x"},
	{"[[:digit:]]x", "0x 9x", "ax"},
	{"[[:alnum:]_]x", "0x zx _x", "-x"},
	{"[unclosed", "", "[unclosed u"},
	{"a?c", "abc a-c", "ac a/c abbc"},
	{"*.{js,ts}", "a.{js,ts}", "a.js a.ts"},
	{"a\\*b", "a*b", "axb"},
	{"größe*", "größe größer", "groesse"},
	{"/", "", "a a/"},
	{"//", "", "a"},
	{"*/name", "sub/name", "name a/b/name"},
	{"sub/", "sub/ a/sub/", "sub"},
	{".*", ".git/ .hidden sub/.x", "a.b"},
	{"**", "a a/b a/", ""},
	{"**/", "a/ a/b/", "a"},
	{"a/", "a/ b/a/", "a b/a"},
}

func TestMatch(t *testing.T) {
	for _, test := range cases {
		rules := ignore.Parse([]byte(test.rules))
		for _, path := range strings.Fields(test.ignored) {
			if got := rules.Match(strings.TrimSuffix(path, "/"), strings.HasSuffix(path, "/")); got != ignore.Ignored {
				t.Errorf("%q: %s got %v, want it ignored", test.rules, path, got)
			}
		}
		for _, path := range strings.Fields(test.kept) {
			if got := rules.Match(strings.TrimSuffix(path, "/"), strings.HasSuffix(path, "/")); got == ignore.Ignored {
				t.Errorf("%q: %s is ignored", test.rules, path)
			}
		}
	}
}

func TestKeptIsNotNone(t *testing.T) {
	rules := ignore.Parse([]byte("!keep"))
	if got := rules.Match("keep", false); got != ignore.Kept {
		t.Errorf("got %v", got)
	}
	if got := rules.Match("other", false); got != ignore.None {
		t.Errorf("got %v", got)
	}
}

// If git is installed, its verdicts about the same paths are the reference.
func TestMatchesLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("there is no git on this machine to compare with")
		return
	}
	// Each path has its own folder in the repository, with the rules in it.
	repository := t.TempDir()
	want := map[string]bool{}
	explain := map[string]string{}
	for i, test := range cases {
		rules := ignore.Parse([]byte(test.rules))
		for j, name := range append(strings.Fields(test.ignored), strings.Fields(test.kept)...) {
			folder := fmt.Sprintf("case%d-%d/", i, j)
			put(t, filepath.Join(repository, folder, ".gitignore"), test.rules)
			name, isFolder := strings.CutSuffix(name, "/")
			if isFolder {
				put(t, filepath.Join(repository, folder, name, "in-it"), "")
			} else {
				put(t, filepath.Join(repository, folder, name), "")
			}
			want[folder+name] = byParts(rules, name, isFolder)
			explain[folder+name] = fmt.Sprintf("%q: %s (a folder: %v)", test.rules, name, isFolder)
		}
	}
	ignored := askGit(t, git, repository, slices.Collect(maps.Keys(want)))
	for path, ours := range want {
		if ours != ignored[path] {
			t.Errorf("%s ignored: %v, by git: %v", explain[path], ours, ignored[path])
		}
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// byParts asks about the parent folders of a path first, like a walk.
func byParts(rules *ignore.Rules, name string, isFolder bool) bool {
	if parent := path.Dir(name); parent != "." && byParts(rules, parent, true) {
		return true
	}
	return rules.Match(name, isFolder) == ignore.Ignored
}

// askGit returns those paths that git excludes.
func askGit(t *testing.T, git, repository string, paths []string) map[string]bool {
	t.Helper()
	run := func(input string, arguments ...string) string {
		command := exec.CommandContext(t.Context(), git, append([]string{"-C", repository}, arguments...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "XDG_CONFIG_HOME="+repository)
		command.Stdin = strings.NewReader(input)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("git %s: %v", arguments[0], err)
		}
		return string(out)
	}
	run("", "init", "-q")
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(run(strings.Join(paths, "\x00"), "check-ignore", "-z", "--no-index", "--stdin"), "\x00") {
		ignored[path] = true
	}
	return ignored
}
