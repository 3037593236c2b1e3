package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// firstPID is the process id of the first process. The others have the ids after it.
const firstPID = 1000

// rig is a host with one plugin, and the controls of the tests.
type rig struct {
	*host.Host
	wire pluginwire.ConnConfig // of each process

	mu        sync.Mutex
	processes []*hosttest.Process
	// not nil: replaces the usual launch
	launch func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error)
}

// newRig returns a host whose one plugin has the tools.
func newRig(t *testing.T, tools []hosttest.Tool, change func(*host.Config)) *rig {
	t.Helper()
	r := &rig{}
	description, err := hosttest.NewPlugin(tools).Describe(t.Context(), pluginwire.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := host.Config{Catalog: openCatalog(t, description)}
	cfg.Launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
		if r.launch != nil {
			return r.launch(ctx, p, instance)
		}
		return r.start(ctx, hosttest.NewPlugin(tools))
	}
	if change != nil {
		change(&cfg)
	}
	r.Host = host.New(cfg)
	t.Cleanup(func() { r.Close() })
	return r
}

func (r *rig) start(ctx context.Context, handler pluginwire.Handler) (host.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := hosttest.StartProcess(ctx, handler, firstPID+len(r.processes), r.wire)
	if err != nil {
		return nil, err
	}
	r.processes = append(r.processes, p)
	return p, nil
}

// process returns the n-th process that was started, from 0.
func (r *rig) process(n int) *hosttest.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.processes[n]
}

func (r *rig) started() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.processes)
}

// openCatalog returns a catalog that knows one plugin.
func openCatalog(t testing.TB, d tool.Description) *catalog.Catalog {
	t.Helper()
	return openCatalogWith(t, d, nil)
}

// openCatalogWith returns a catalog that knows one plugin, with the operator's overrides of its
// tools.
func openCatalogWith(t testing.TB, d tool.Description, overrides catalog.Overrides) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, d.Name), data, 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := hosttest.LoadCatalog(t.Context(), catalog.Config{
		Folders: []string{dir}, StateDir: t.TempDir(), Overrides: overrides,
		Describe: func(context.Context, *catalog.Plugin) (tool.Description, error) { return d, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// echoLog writes the id of its call to the tool's log.
func echoLog(_ context.Context, c tool.Call, emit func(tool.Event)) (tool.Result, error) {
	emit(tool.Event{Log: &tool.LogRecord{Level: tool.LogInfo, Message: "this is " + c.ID}})
	return tool.TextResult("said"), nil
}
