package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// shown is a layout as text, one item a line, without the tree's own folder.
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
		"protected, with the folders in between": {func(v *view) error {
			err := v.reveal(at("a"), tool.AccessWrite)
			v.protect(at("a/b/c/file"))
			v.protect(at("other/file"))
			return err
		}, []string{"a write 0", "a/b write 0", "a/b/c write 0", "a/b/c/file read 0"}},
		"hidden in what can only be read": {func(v *view) error {
			err := v.reveal(at("a"), tool.AccessRead)
			v.hide(at("a/b/c"))
			v.hide(at("other"))
			return err
		}, []string{"a read 0", "a/b/c read 2"}},
		"granted inside of hidden": {func(v *view) error {
			err := firstOf(v.reveal(at("a"), tool.AccessWrite), v.reveal(at("a/b/c"), tool.AccessRead))
			v.hide(at("a/b"))
			return err
		}, []string{"a write 0", "a/b read 2", "a/b/c read 0"}},
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
