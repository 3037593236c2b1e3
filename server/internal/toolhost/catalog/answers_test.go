package catalog_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// TestManyAnswersMakeFewSnapshots checks that many plugins that answer make few snapshots, because
// each costs time for all plugins, and that each plugin is still in service soon after its answer.
func TestManyAnswersMakeFewSnapshots(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	const plugins, apart, soon = 100, 10 * time.Millisecond, 100 * time.Millisecond
	for i := range plugins {
		write(t, dir, fmt.Sprintf("p%02d", i), plugin(fmt.Sprintf("p%02d", i), spec(fmt.Sprintf("t%02d", i))), 0o755)
	}
	synctest.Test(t, func(t *testing.T) {
		fake := &fakePlugins{}
		c, err := catalog.Open(catalog.Config{
			Folders: []string{dir}, StateDir: state, Parallel: plugins,
			Describe: func(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
				var i time.Duration
				if _, err := fmt.Sscanf(filepath.Base(p.Source), "p%d", &i); err != nil {
					return tool.Description{}, err
				}
				time.Sleep((i + 1) * apart)
				return fake.describe(ctx, p)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		snapshots := 0
		for seen := c.Snapshot(); len(seen.Tools(tool.Query{})) < plugins; snapshots++ {
			if seen, err = c.Next(t.Context(), seen); err != nil {
				t.Fatal(err)
			}
			if answered, has := int(time.Since(began)/apart), len(seen.Tools(tool.Query{})); has < answered-1 {
				t.Errorf("after %v a new snapshot has %d tools", time.Since(began), has)
			}
		}
		if took := time.Since(began); took != plugins*apart {
			t.Errorf("all plugins are in service after %v, want %v: the last answer waits for nothing", took, plugins*apart)
		}
		if most := int(plugins*apart/soon) + 2; snapshots > most {
			t.Errorf("%d plugins made %d snapshots, want at most %d", plugins, snapshots, most)
		}
	})
}
