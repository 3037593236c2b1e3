package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// A caller of an unknown tool learns to try again if a plugin is still being asked for its tools.
func TestAToolThatMayComeIsNotDenied(t *testing.T) {
	dir := t.TempDir()
	known, err := catalog.Open(catalog.Config{
		Folders: []string{dir}, StateDir: t.TempDir(),
		Describe: func(ctx context.Context, _ *catalog.Plugin) (tool.Description, error) {
			<-ctx.Done()
			return tool.Description{}, context.Cause(ctx)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { known.Close() })
	for _, tc := range []struct {
		files int
		want  bool
	}{{0, false}, {1, true}} {
		for range tc.files {
			if err := os.WriteFile(filepath.Join(dir, "slow"), []byte("x"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := known.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		told := unknownTool(known.Snapshot(), "forecast", func(string) bool { return false }, permission{})
		if told.Kind != tool.KindNotFound || strings.Contains(told.Message, "try again soon") != tc.want {
			t.Errorf("with %d new plugins it is said %v", tc.files, told)
		}
	}
}
