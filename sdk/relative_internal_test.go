package sdk

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// testdata/relative.json has the cases of all SDKs.
func TestRelativeTo(t *testing.T) {
	text, err := os.ReadFile("testdata/relative.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Folder, Text, Want string }
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		if got := relativeTo(c.Folder, c.Text); got != c.Want {
			t.Errorf("in %q, %q becomes %q, want %q", c.Folder, c.Text, got, c.Want)
		}
	}
}

// A workspace behind a link has two absolute paths.
func TestRelativeToLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir), link); err != nil {
		t.Fatal(err)
	}
	if got, want := relativeTo(link, dir+"/a and "+link+"/b"), "a and b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
