package serve

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// On a loaded machine, plugins describe themselves slowly. A start that waits longer has their
// tools.
func TestLoadPluginsWaitsForSlowPlugins(t *testing.T) {
	for settle, tools := range map[time.Duration]int{0: 0, 20 * time.Second: 1} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "slow"), []byte("#!/bin/sh"), 0o700); err != nil {
				t.Fatal(err)
			}
			known, err := catalog.Open(catalog.Config{
				Folders: []string{dir}, StateDir: t.TempDir(), DescribeTimeout: time.Minute,
				Describe: func(context.Context, *catalog.Plugin) (tool.Description, error) {
					time.Sleep(10 * time.Second)
					return tool.Description{Name: "slow", Tools: []tool.Spec{{Name: "a", Description: "x"}}}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer known.Close()
			if err := LoadPlugins(t.Context(), known, []string{dir}, settle); err != nil {
				t.Fatal(err)
			}
			if got := len(known.Snapshot().Tools(tool.Query{})); got != tools {
				t.Errorf("after at most %s there are %d tools, want %d", settle, got, tools)
			}
		})
	}
}
