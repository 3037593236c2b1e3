package install

import (
	"slices"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// An installation into the first of several folders says so, unless the command line named it.
func TestTheFirstOfSeveralFoldersIsNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		flag    string
		folders []string
		want    []string
	}{
		"one":     {"", []string{"/a"}, nil},
		"several": {"", []string{"/a", "/b", "/c"}, []string{"the configuration has 3 folders of plugins, of which /a is the first; --plugins DIR chooses another: /b, /c"}},
		"chosen":  {"/b", []string{"/b", "/c"}, nil},
	} {
		i := &Installer{plugins: tt.flag}
		if got := i.otherFolders(serve.Options{Config: config.Config{Folders: tt.folders}}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
