//go:build !race

package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// The first start with many plugins reads and writes as much for each as a start with few. A later
// start does so too, also if the first one ended before it had recorded what it trusts.
func TestAFirstStartIsLinear(t *testing.T) {
	const few, many = 50, 300
	first := map[int]int64{}
	again := map[int]int64{}
	for _, n := range []int{few, many} {
		cfg := newPlugins(t, n)
		first[n] = transferred(t, func() { start(t, cfg, n) })
		if err := os.RemoveAll(cfg.Trust.Dir()); err != nil { // as if it had ended before
			t.Fatal(err)
		}
		cfg.Describe = nil
		again[n] = transferred(t, func() { start(t, cfg, n) })
	}
	t.Logf("first start %d bytes, later start %d bytes", first, again)
	const slack = 2
	for what, bytes := range map[string]map[int]int64{"first": first, "later": again} {
		if most := slack * bytes[few] * many / few; bytes[many] > most {
			t.Errorf("the %s start with %d plugins reads and writes %d bytes, and with %d plugins %d: more than %d",
				what, few, bytes[few], many, bytes[many], most)
		}
	}
}

// newPlugins returns the configuration of a catalog that knows none of its n plugins, with ten
// tools each.
func newPlugins(t *testing.T, n int) catalog.Config {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		var tools []tool.Spec
		for j := range 10 {
			tools = append(tools, tool.Spec{Name: fmt.Sprintf("t%d_%d", i, j), Description: "Does something.", InputSchema: json.RawMessage(someSchema)})
		}
		name := fmt.Sprintf("p%d", i)
		write(t, dir, name, plugin(name, tools...), 0o700)
	}
	return catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe, Trust: trust.NewStore(t.TempDir())}
}

// start opens a catalog, loads it, and closes it when every plugin has described itself and is
// recorded as trusted.
func start(t *testing.T, cfg catalog.Config, n int) {
	t.Helper()
	c := load(t, cfg)
	if found := len(settled(t, c).Tools(tool.Query{})); found != 10*n {
		t.Errorf("%d tools, want %d", found, 10*n)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	records, err := cfg.Trust.Plugins(cfg.Folders)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if name := fmt.Sprintf("p%d", i); records.Named(name) == "" || records.Owner(fmt.Sprintf("t%d_9", i)) == "" {
			t.Fatalf("%s is not recorded as trusted", name)
		}
	}
}

// transferred returns the bytes that this process reads and writes in f.
func transferred(t *testing.T, f func()) int64 {
	t.Helper()
	before := counted(t)
	f()
	return counted(t) - before
}

// counted returns the bytes that system calls of this process have read and written.
func counted(t *testing.T) (sum int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^[rw]char: (\d+)$`).FindAllSubmatch(text, -1) {
		n, err := strconv.ParseInt(string(found[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
