package catalog_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// If a plugin does not describe itself at the first use of its folder, the trust covers only that
// executable. Another executable in its place that declares itself harmless is not trusted.
func TestWhatWasTrustedUnseenIsTheExecutable(t *testing.T) {
	dir, store := t.TempDir(), trust.NewStore(t.TempDir())
	path := filepath.Join(dir, "weather")
	if err := os.WriteFile(path, []byte(`{"broken"`), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe, Trust: store}
	c := load(t, cfg)
	harmless := spec("rain")
	harmless.ReadOnly = true
	if err := os.WriteFile(path, []byte(plugin("weather", harmless)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	settled(t, c)
	found := c.Snapshot().Tools(tool.Query{})
	if len(found) != 1 || !found[0].Spec.Dangerous || found[0].Spec.ReadOnly {
		t.Errorf("the tools are %+v, want one that counts as dangerous", found)
	}
}

// The file of a trusted plugin has a second name in a workspace. Content that a tool writes under
// that name does not run, also after the tool has removed the name. The revision in service stays.
func TestAPluginThatAToolWroteThroughALink(t *testing.T) {
	dir, workspace, store := t.TempDir(), t.TempDir(), trust.NewStore(t.TempDir())
	path, link := filepath.Join(dir, "weather"), filepath.Join(workspace, "weather")
	write(t, dir, "weather", plugin("weather", spec("rain")), 0o700)
	cfg := catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe, Trust: store}
	c := load(t, cfg)
	first := settled(t, c).Plugins()[0].Digest
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if err := store.TrustPlugin([]string{dir}, path, c.Snapshot().Plugins()[0].Trusted(), false); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what   string
		change func() error
	}{
		{"written", func() error { return os.WriteFile(link, []byte(plugin("weather", spec("snow"))), 0o700) }},
		{"written, and the link is gone", func() error { return os.Remove(link) }},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := settled(t, c).Plugins()[0]
		if p.Digest != first || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "hard link") {
			t.Errorf("%s: %s is in service, was %s, and the warnings are %q", step.what, p.Digest, first, p.Warnings)
		}
	}
}

// If two plugins claim a name at the first start, the name belongs to the first in the order of the
// scan, also if the other one answers earlier.
func TestANameDoesNotDependOnTheOrderOfAnswers(t *testing.T) {
	dir, store, fake := t.TempDir(), trust.NewStore(t.TempDir()), &fakePlugins{}
	write(t, dir, "a", plugin("a", spec("read")), 0o700)
	write(t, dir, "z", plugin("z", spec("read"), spec("own")), 0o700)
	answered := make(chan struct{})
	c := must(catalog.Open(catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Trust: store,
		Describe: func(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
			if filepath.Base(p.Source) == "a" {
				<-answered
			}
			return fake.describe(ctx, p)
		}}))
	defer c.Close()
	must(0, c.Load(t.Context()))
	for s := c.Snapshot(); s.Tool("own") == nil; s = must(c.Next(t.Context(), s)) {
	}
	close(answered)
	if owner := settled(t, c).Tool("read").Plugin.Info.Name; owner != "a" {
		t.Errorf("%s has the name", owner)
	}
	if owner := must(store.Plugins([]string{dir})).Owner("read"); filepath.Base(owner) != "a" {
		t.Errorf("the name belongs to %s", owner)
	}
}

// A plugin whose file has a second name from the start is not started, and the reason is the cause
// with what helps.
func TestAPluginWithASecondNameTellsTheCause(t *testing.T) {
	dir, store := t.TempDir(), trust.NewStore(t.TempDir())
	path := write(t, dir, "weather", plugin("weather", spec("rain")), 0o700)
	if err := os.Link(path, filepath.Join(t.TempDir(), "weather")); err != nil {
		t.Fatal(err)
	}
	c := load(t, catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe, Trust: store})
	p := c.Snapshot().Plugins()[0]
	for _, want := range []string{"hard link", "`toolhost trust weather`", "`toolhost trust --all`", "cp -p " + path} {
		if !p.Untrusted || !strings.Contains(p.Problem, want) {
			t.Errorf("the problem is %q, want %q in it", p.Problem, want)
		}
	}
}
