package catalog_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// inLives opens a catalog of one folder and one state several times, one after the other, in
// virtual time.
func inLives(t *testing.T, lives ...func(t *testing.T, c *catalog.Catalog, answer chan<- string)) {
	t.Helper()
	dir, state := t.TempDir(), stateDir(t)
	write(t, dir, "a-hangs", "hang", 0o755)
	write(t, dir, "b-good", plugin("good", spec("a")), 0o755)
	for _, live := range lives {
		synctest.Test(t, func(t *testing.T) {
			fake, answer := &fakePlugins{}, make(chan string, 1)
			c, err := catalog.Open(catalog.Config{
				Folders: []string{dir}, StateDir: state,
				Describe: func(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
					if !strings.HasSuffix(p.Source, "a-hangs") {
						return fake.describe(ctx, p)
					}
					select {
					case name := <-answer:
						return tool.Description{Name: name, Tools: []tool.Spec{spec("late")}}, nil
					case <-ctx.Done():
						return tool.Description{}, context.Cause(ctx)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			live(t, c, answer)
		})
	}
}

// took returns the time until all plugins have been asked.
func took(t *testing.T, c *catalog.Catalog) time.Duration {
	t.Helper()
	began := time.Now()
	settled(t, c)
	return time.Since(began)
}

// A digest that did not answer delays only one start. The next toolhost asks it in the background.
// It waits for the answer only if a load requests that.
func TestWhatHangsDelaysOneStart(t *testing.T) {
	inLives(t,
		func(t *testing.T, c *catalog.Catalog, _ chan<- string) {
			if got := took(t, c); got != 10*time.Second {
				t.Errorf("the first start took %v, want the whole DescribeTimeout", got)
			}
		},
		func(t *testing.T, c *catalog.Catalog, answer chan<- string) {
			if got := took(t, c); got != 0 {
				t.Errorf("the next start took %v", got)
			}
			if p := c.Snapshot().Plugins()[0]; !strings.Contains(p.Problem, "deadline") {
				t.Errorf("meanwhile it is shown with %q", p.Problem)
			}
			synctest.Wait()
			answer <- "hangs"
			synctest.Wait()
			if c.Snapshot().Tool("late") == nil {
				t.Error("it has answered, and its tool is not there")
			}
		},
		func(t *testing.T, c *catalog.Catalog, _ chan<- string) {
			if c.Snapshot().Tool("late") == nil {
				t.Error("it has answered an earlier toolhost, and its tool is not there")
			}
		},
	)
}

// A reload asks a plugin again that has not answered so far, and Settle waits for the answer,
// because an operator who reloads wants to know whether the plugin works now.
func TestWhatHangsIsAskedAtAReload(t *testing.T) {
	inLives(t,
		func(t *testing.T, c *catalog.Catalog, _ chan<- string) { took(t, c) },
		func(t *testing.T, c *catalog.Catalog, answer chan<- string) {
			time.Sleep(time.Minute) // virtual: it did not answer this toolhost either
			answer <- "hangs"
			if err := c.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if settled(t, c).Tool("late") == nil {
				t.Error("it has answered, and its tool is not there")
			}
		},
	)
}

// A toolhost that lives only for a short time also records a plugin that hangs. Otherwise each of
// several such toolhosts would wait for it.
func TestAShortLifeRemembersWhatHangs(t *testing.T) {
	inLives(t,
		func(_ *testing.T, _ *catalog.Catalog, _ chan<- string) { time.Sleep(3 * time.Second) }, // virtual
		func(t *testing.T, c *catalog.Catalog, _ chan<- string) {
			if got := took(t, c); got != 0 {
				t.Errorf("the next start took %v", got)
			}
		},
	)
	inLives(t,
		func(_ *testing.T, _ *catalog.Catalog, _ chan<- string) { time.Sleep(time.Second) }, // too short to judge
		func(t *testing.T, c *catalog.Catalog, answer chan<- string) {
			answer <- "hangs"
			if settled(t, c).Tool("late") == nil {
				t.Error("it was not waited for")
			}
		},
	)
}
