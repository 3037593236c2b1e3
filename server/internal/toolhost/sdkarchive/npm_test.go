//go:build more

package sdkarchive_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// The published tarball has the same files as a tarball of `npm pack`.
func TestNPMPacksTheSameFiles(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "npm", "pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error")
	cmd.Dir = "../../../../sdk/typescript"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packed []struct {
		Filename string
		Files    []struct{ Path string }
	}
	if err := json.Unmarshal(out, &packed); err != nil || len(packed) != 1 {
		t.Fatalf("npm prints %s, %v", out, err)
	}
	tarball, err := sdkarchive.NPM(toolhost.Sources())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"LICENSE"} // npm packs it, but the checkout has it at its top
	for _, file := range packed[0].Files {
		if file.Path != "LICENSE" {
			want = append(want, file.Path)
		}
	}
	var got []string
	for name := range untar(t, tarball.Data) {
		got = append(got, strings.TrimPrefix(name, "package/"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if tarball.Name != packed[0].Filename || !slices.Equal(got, want) {
		t.Errorf("%s contains\n%q\nand npm packs %s with\n%q", tarball.Name, got, packed[0].Filename, want)
	}
}
