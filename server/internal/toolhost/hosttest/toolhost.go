package hosttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/tool"
)

// Toolhost is a host whose plugin runs in the process of the test. Use New or Start to make one.
// All methods are safe for concurrent use.
type Toolhost struct {
	*host.Host
	folder    string // of all files
	catalog   *catalog.Catalog
	artifacts *artifact.Store
	close     sync.Once

	mu       sync.Mutex
	tools    []Tool
	revision int // of the tools
	launches int
	opened   []tool.Call
}

// New returns a toolhost that is closed at the end of the test; see Start.
func New(t testing.TB, change func(*host.Config), tools ...Tool) *Toolhost {
	t.Helper()
	h, err := Start(change, tools...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// Start returns a host with one plugin, PluginName, that has the tools, or with no plugin if there
// are none. The host keeps artifacts, and shows results whole unless a call bounds them. The plugin
// may ask everything. change, if not nil, changes this configuration. The caller must close the
// host.
func Start(change func(*host.Config), tools ...Tool) (h *Toolhost, err error) {
	h = &Toolhost{tools: tools}
	if h.folder, err = os.MkdirTemp("/tmp", "hosttest"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			h.Close()
		}
	}()
	if err := os.Mkdir(h.pluginFolder(), 0o700); err != nil {
		return nil, err
	}
	if len(tools) > 0 {
		if err := h.install(); err != nil {
			return nil, err
		}
	}
	h.catalog, err = LoadCatalog(context.Background(), catalog.Config{
		Folders: []string{h.pluginFolder()}, StateDir: filepath.Join(h.folder, "state"), Describe: h.describe,
	})
	if err != nil {
		return nil, err
	}
	if h.artifacts, err = artifact.Open(artifact.Config{Dir: filepath.Join(h.folder, "artifacts")}); err != nil {
		return nil, err
	}
	config := host.Config{Catalog: h.catalog, Launch: h.launch, Artifacts: h.artifacts}
	config.MaxShown = 1 << 30
	config.Asks = func(string) []tool.QuestionKind {
		return []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel, tool.QuestionRoots}
	}
	if change != nil {
		change(&config)
	}
	h.Host = host.New(config)
	return h, nil
}

// Close ends all calls and removes the files of the host. It may be called more than once.
func (h *Toolhost) Close() {
	h.close.Do(func() {
		if h.Host != nil {
			_ = h.Host.Close()
		}
		if h.artifacts != nil {
			_ = h.artifacts.Close()
		}
		if h.catalog != nil {
			_ = h.catalog.Close()
		}
		_ = os.RemoveAll(h.folder)
	})
}

// LoadCatalog opens a catalog that has read its folders and described their plugins.
func LoadCatalog(ctx context.Context, config catalog.Config) (*catalog.Catalog, error) {
	c, err := catalog.Open(config)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.Load(ctx), c.Settle(ctx)); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (h *Toolhost) pluginFolder() string { return filepath.Join(h.folder, "plugins") }

// install writes a file of the plugin with other content than before.
func (h *Toolhost) install() error {
	h.revision++
	temporary := filepath.Join(h.folder, "new")
	if err := os.WriteFile(temporary, fmt.Appendf(nil, "revision %d", h.revision), 0o700); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(h.pluginFolder(), PluginName))
}

func (h *Toolhost) plugin() *Plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	return NewPlugin(h.tools)
}

func (h *Toolhost) describe(ctx context.Context, _ *catalog.Plugin) (tool.Description, error) {
	return h.plugin().Describe(ctx, pluginwire.DescribeRequest{})
}

func (h *Toolhost) launch(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
	h.mu.Lock()
	h.launches++
	pid := h.launches
	h.mu.Unlock()
	return StartProcess(ctx, h.plugin(), pid, pluginwire.ConnConfig{})
}

// SetTools upgrades the plugin to one with other tools.
func (h *Toolhost) SetTools(t testing.TB, tools ...Tool) {
	t.Helper()
	h.mu.Lock()
	h.tools = tools
	err := h.install()
	h.mu.Unlock()
	if err == nil {
		_, err = h.Upgrade(t.Context(), PluginName, "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Open opens a call and records it.
func (h *Toolhost) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	h.mu.Lock()
	h.opened = append(h.opened, call)
	h.mu.Unlock()
	return h.Host.Open(ctx, call, complete)
}

// Opened returns the calls that callers have opened, in order, with the arguments of the beginning.
// It has refused ones too.
func (h *Toolhost) Opened() []tool.Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.opened)
}
