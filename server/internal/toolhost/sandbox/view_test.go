package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// shown returns a layout as text, one item a line, without the tree's own folder.
func shown(v *view, root string) []string {
	var lines []string
	for _, it := range v.layout() {
		lines = append(lines, strings.TrimPrefix(fmt.Sprintf("%s %s %d", it.path, it.access, it.kind), root+"/"))
	}
	return lines
}

func TestViewFollowsLinksAndKeepsThem(t *testing.T) {
	root := tree(t, map[string]string{
		"data/file": "x", "link": "-> data", "deep/link": "-> ../link/file", "loop": "-> loop",
	})
	v := newView()
	if err := v.reveal(filepath.Join(root, "deep", "link"), tool.AccessRead); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"data/file read 0"}, shown(v, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := map[string]string{filepath.Join(root, "deep", "link"): "../link/file", filepath.Join(root, "link"): "data"}
	if diff := cmp.Diff(want, v.links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"loop", "missing"} {
		if err := v.reveal(filepath.Join(root, bad), tool.AccessRead); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestLayoutHasEachThingOnce(t *testing.T) {
	root := tree(t, map[string]string{"a/b/c/file": "x", "a/b2": "x", "other/file": "x"})
	at := func(path string) string { return filepath.Join(root, path) }
	for name, test := range map[string]struct {
		make func(v *view) error
		want []string
	}{
		"what is in something readable": {func(v *view) error {
			return firstOf(v.reveal(at("a/b/c"), tool.AccessRead), v.reveal(at("a"), tool.AccessRead))
		}, []string{"a read 0"}},
		"more inside of less": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessRead), v.reveal(at("a/b"), tool.AccessWrite))
		}, []string{"a read 0", "a/b write 0"}},
		"less inside of more": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.reveal(at("a/b"), tool.AccessRead))
		}, []string{"a write 0"}},
		"the same twice": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.reveal(at("a"), tool.AccessRead))
		}, []string{"a write 0"}},
		"protected, with the folder around it and those in between": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.shield(at("a/b/c/file"), false), v.shield(at("other/file"), false))
		}, []string{"a write 0", "a/b write 0", "a/b/c read 0"}},
		"protected directly in what may be written": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.shield(at("a/b"), false), v.shield(at("a/none"), false))
		}, []string{"a write 0", "a/b read 0"}},
		"protected where there is nothing yet": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.shield(at("a/b/none/file"), false))
		}, []string{"a write 0", "a/b read 0"}},
		"protected around what is protected": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.shieldAll(Config{Protected: []string{at("a/b/c/file"), at("a/b/other")}}))
		}, []string{"a write 0", "a/b read 0"}},
		"hidden in what is protected": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.shieldAll(Config{Hidden: []string{at("a/b/c/file")}, Protected: []string{at("a/b/other")}}))
		}, []string{"a write 0", "a/b read 0", "a/b/c read 2"}},
		"hidden in what can only be read": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessRead), v.shield(at("a/b/c"), true), v.shield(at("other"), true))
		}, []string{"a read 0", "a/b read 2"}},
		"hidden where there is nothing yet": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.shield(at("a/b/none"), true))
		}, []string{"a write 0", "a/b read 0"}},
		"granted inside of hidden": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.reveal(at("a/b/c"), tool.AccessRead), v.shield(at("a/b"), true))
		}, []string{"a write 0", "a/b read 2", "a/b/c read 0"}},
		"names that mean something": {func(v *view) error {
			return firstOf(v.reveal(at("a"), tool.AccessWrite), v.reveal(at("other"), tool.AccessRead), v.shieldNames(Config{
				Write: []string{at("a")}, Read: []string{at("other")}, Names: []string{"b2", "file", "none"},
			}))
		}, []string{"a write 0", "a/b2 read 0", "other read 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView()
			if err := test.make(v); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shown(v, root)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A path that cannot be protected by its name is refused, with a remedy.
func TestShieldRefuses(t *testing.T) {
	root := tree(t, map[string]string{
		"ws/secret": "x", "ws/link": "-> away", "ws/away/plugins/p": "x", "ws/dir/file": "x", "ws/to": "-> /nowhere/at/all", "out": "-> ws/dir", "twice/of": "x", "ws/kept/first": "x", "ws/kept/file": "x",
	})
	at := func(path string) string { return filepath.Join(root, path) }
	if err := os.Link(at("ws/dir/file"), at("ws/other")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(at("ws/kept/file"), at("ws/third")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		access tool.Access
		path   string
		hidden bool
		want   string // a part of the error; empty: none
	}{
		"a secret directly in a folder that may be written": {tool.AccessWrite, "ws/secret", true, "lies directly in"},
		"a secret directly in a folder that may be read":    {tool.AccessRead, "ws/secret", true, "lies directly in"},
		"a link on the way":                                 {tool.AccessWrite, "ws/link/plugins", false, "is a symbolic link"},
		"a link at the end":                                 {tool.AccessWrite, "ws/to", false, "is a symbolic link"},
		"a link on the way to what is hidden":               {tool.AccessWrite, "ws/link/plugins", true, "is a symbolic link"},
		"a link that cannot be replaced":                    {tool.AccessRead, "ws/link/plugins", false, ""},
		"a link that cannot be replaced, to what is hidden": {tool.AccessRead, "ws/link/plugins/p", true, ""},
		"a link outside":                                    {tool.AccessWrite, "out", false, ""},
		"another name of a file":                            {tool.AccessWrite, "ws/dir/file", false, "hard link"},
		"another name of a file, by a link outside":         {tool.AccessWrite, "out/file", true, "hard link"},
		"another name of a file, in a shielded folder":      {tool.AccessWrite, "ws/kept/file", false, "hard link"},
		"another name of a file that may only be read":      {tool.AccessRead, "ws/dir/file", false, ""},
		"the folder itself":                                 {tool.AccessWrite, "ws", false, "granted to write it"},
		"the folder itself, which may only be read":         {tool.AccessRead, "ws", false, ""},
		"what is outside":                                   {tool.AccessWrite, "twice/of", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView()
			if err := v.reveal(at("ws"), test.access); err != nil {
				t.Fatal(err)
			}
			if err := v.shield(at("ws/kept/first"), false); err != nil {
				t.Fatal(err)
			}
			err := v.shield(at(test.path), test.hidden)
			if refused, ok := errors.AsType[*ShieldError](err); ok != (test.want != "") || ok && (!strings.Contains(err.Error(), test.want) || refused.Path != at(test.path)) {
				t.Errorf("%v; want %q", err, test.want)
			}
		})
	}
}

// The names by which another file could replace a protected one.
func TestNotedNames(t *testing.T) {
	root := tree(t, map[string]string{"ws/a/b/plugins/p": "x", "ws/toolhost.yaml": "x", "ws/conf/key": "x"})
	at := func(path string) string { return filepath.Join(root, path) }
	v := newView()
	if err := firstOf(v.reveal(at("ws"), tool.AccessWrite), v.shieldAll(Config{
		Workspace: at("ws"), WorkspaceAccess: tool.AccessWrite, Names: []string{"toolhost.yaml", "agentd.yaml"},
		Protected: []string{at("ws/a/b/plugins"), at("elsewhere/plugins")}, Hidden: []string{at("ws/conf/key")},
	})); err != nil {
		t.Fatal(err)
	}
	var names []string
	for path := range v.names {
		names = append(names, strings.TrimPrefix(path, root+"/"))
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"ws/a", "ws/a/b", "ws/agentd.yaml", "ws/conf", "ws/toolhost.yaml"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, change := range []func() error{
		func() error { return os.WriteFile(at("ws/agentd.yaml"), nil, 0o600) },
		func() error { return os.Remove(at("ws/agentd.yaml")) },
		func() error {
			return firstOf(os.WriteFile(at("ws/new"), nil, 0o600), os.Rename(at("ws/new"), at("ws/toolhost.yaml")))
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if same, want := v.sameNames(), i == 1; same != want {
			t.Errorf("after change %d the names are the same: %v", i, same)
		}
	}
}
