package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/trust"
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

// A caller learns to try again later if the tool's plugin cannot be used, or if a fault of the
// machine hides what tools there are. A plugin that is broken itself hides nothing.
func TestAToolOfAnUnusablePluginIsNotDenied(t *testing.T) {
	full := fmt.Errorf("launching it: %w", &os.PathError{Op: "write", Path: "/secret/path", Err: syscall.ENOSPC})
	for name, tc := range map[string]struct {
		described bool // once, before it fails
		fails     error
		kind      tool.Kind
		says      string
	}{
		"a full disk":                      {false, full, tool.KindUnavailable, "no space left on device"},
		"a broken plugin":                  {false, errors.New("exit code 7"), tool.KindNotFound, "no tool is known"},
		"a known plugin that broke":        {true, errors.New("exit code 7"), tool.KindUnavailable, "`toolhost why weather`"},
		"a known plugin and a full disk":   {true, full, tool.KindUnavailable, `its plugin "weather" cannot be used now: no space left on device`},
		"a known plugin and no files left": {true, syscall.EMFILE, tool.KindUnavailable, "too many open files"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := t.TempDir(), trust.NewStore(t.TempDir())
			path := filepath.Join(dir, "weather")
			if err := os.WriteFile(path, []byte("x"), 0o700); err != nil {
				t.Fatal(err)
			}
			snapshot := func(d tool.Description, err error) *catalog.Snapshot {
				known, openErr := catalog.Open(catalog.Config{Folders: []string{dir}, StateDir: t.TempDir(), Trust: store,
					Describe: func(context.Context, *catalog.Plugin) (tool.Description, error) { return d, err }})
				if openErr != nil {
					t.Fatal(openErr)
				}
				defer known.Close()
				if err := errors.Join(known.Load(t.Context()), known.Settle(t.Context())); err != nil {
					t.Fatal(err)
				}
				return known.Snapshot()
			}
			if tc.described {
				snapshot(tool.Description{Name: "weather", Tools: []tool.Spec{{Name: "forecast", Description: "Tells."}}}, nil)
			}
			told := unknownTool(snapshot(tool.Description{}, tc.fails), "forecast", func(string) bool { return false }, permission{})
			if told.Kind != tc.kind || !strings.Contains(told.Message, tc.says) || strings.Contains(told.Message, "/secret") {
				t.Errorf("it is said %v", told)
			}
		})
	}
}
