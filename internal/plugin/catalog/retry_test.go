package catalog_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// inLives opens a catalogue of one folder and one state for each of several lives, in virtual time.
func inLives(t *testing.T, lives ...func(t *testing.T, c *catalog.Catalog, answer chan<- string)) {
	t.Helper()
	dir, state := t.TempDir(), t.TempDir()
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

// took returns how long it took until all had said what they are.
func took(t *testing.T, c *catalog.Catalog) time.Duration {
	t.Helper()
	began := time.Now()
	settled(t, c)
	return time.Since(began)
}

// TestWhatHangsDelaysOneStart: a digest that did not say what it is is not waited for by the next toolhost, which asks it all
// the same, and waits when it is told to look again.
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

// TestWhatHangsIsAskedAtAReload: an operator who looks again wants to know whether it works now.
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

// TestAShortLifeRemembersWhatHangs: so that one toolhost after the other does not wait for it.
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
