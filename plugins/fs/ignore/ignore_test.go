package ignore_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/plugins/fs/ignore"
)

// Paths that end in a slash are folders.
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

// What git says about the same paths, where there is a git.
func TestMatchesLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("there is no git on this machine to compare with")
		return
	}
	for i, test := range cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rules := ignore.Parse([]byte(test.rules))
			for _, name := range append(strings.Fields(test.ignored), strings.Fields(test.kept)...) {
				name, isFolder := strings.CutSuffix(name, "/")
				if got, want := byParts(rules, name, isFolder), askGit(t, git, test.rules, name, isFolder); got != want {
					t.Errorf("%q: %s (a folder: %v) ignored: %v, by git: %v", test.rules, name, isFolder, got, want)
				}
			}
		})
	}
}

// byParts asks about the folders that lead to a path first, as a walk does.
func byParts(rules *ignore.Rules, name string, isFolder bool) bool {
	if parent := path.Dir(name); parent != "." && byParts(rules, parent, true) {
		return true
	}
	return rules.Match(name, isFolder) == ignore.Ignored
}

// askGit asks git in a repository that holds nothing but that path.
func askGit(t *testing.T, git, rules, name string, isFolder bool) bool {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, name)
	if isFolder {
		file = filepath.Join(file, "in-it")
	}
	for path, content := range map[string]string{file: "", filepath.Join(dir, ".gitignore"): rules} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{{"init", "-q"}, {"check-ignore", "-q", "--no-index", "--", "./" + name}} {
		command := exec.CommandContext(t.Context(), git, append([]string{"-C", dir}, arguments...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "XDG_CONFIG_HOME="+dir)
		err := command.Run()
		if arguments[0] == "init" && err != nil {
			t.Fatal(err)
		}
		if arguments[0] == "check-ignore" {
			return err == nil
		}
	}
	return false
}
