//go:build !race

package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

const manyPlugins = 1000

const someSchema = `{"type":"object","properties":{"path":{"type":"string","description":"where to look"},` +
	`"offset":{"type":"integer","minimum":0},"tags":{"type":"array","items":{"type":"string"}}},"required":["path"],"additionalProperties":false}`

// knownPlugins makes a folder of plugins that have all been asked for their descriptions.
func knownPlugins(tb testing.TB, toolsOfEach int) catalog.Config {
	tb.Helper()
	dir := tb.TempDir()
	for i := range manyPlugins {
		var tools []tool.Spec
		for j := range toolsOfEach {
			tools = append(tools, tool.Spec{Name: fmt.Sprintf("t%d_%d", i, j), Description: "Does something.", InputSchema: json.RawMessage(someSchema)})
		}
		name := fmt.Sprintf("p%d", i)
		writeTB(tb, dir, name, plugin(name, tools...))
	}
	cfg := catalog.Config{Folders: []string{dir}, StateDir: stateDir(tb), Describe: (&fakePlugins{}).describe}
	c := must(catalog.Open(cfg))
	defer c.Close()
	if err := c.Load(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err := c.Settle(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return cfg
}

// A thousand plugins that are already known are available after the first load, and no process is
// started.
func TestAThousandKnownPlugins(t *testing.T) {
	cfg := knownPlugins(t, 2)
	cfg.Describe = func(_ context.Context, p *catalog.Plugin) (tool.Description, error) {
		t.Errorf("%s was started", p.Source)
		return tool.Description{}, context.Canceled
	}
	c := must(catalog.Open(cfg))
	defer c.Close()
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := c.Snapshot() // without Settle
	if n := len(s.Tools(tool.Query{})); n != manyPlugins*2 {
		t.Fatalf("%d tools, want %d", n, manyPlugins*2)
	}
	schema := s.Tool("t999_1").Schema
	if err := schema.Validate(must(arguments.Parse([]byte(`{"path":"x"}`)))); err != nil {
		t.Errorf("good arguments: %v", err)
	}
	if err := schema.Validate(must(arguments.Parse([]byte(`{}`)))); err == nil {
		t.Error("bad arguments were taken")
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkLoadKnown measures the start with a thousand known plugins of ten tools each.
func BenchmarkLoadKnown(b *testing.B) {
	cfg := knownPlugins(b, 10)
	for b.Loop() {
		c := must(catalog.Open(cfg))
		if err := c.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		if n := len(c.Snapshot().Tools(tool.Query{})); n != 10*manyPlugins {
			b.Fatalf("%d tools", n)
		}
		c.Close()
	}
}

// BenchmarkReload measures a load of the same plugins while toolhost runs.
func BenchmarkReload(b *testing.B) {
	c := must(catalog.Open(knownPlugins(b, 10)))
	defer c.Close()
	for b.Loop() {
		if err := c.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
