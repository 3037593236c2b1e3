package host_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

var (
	seed    = flag.Uint64("seed", 0, "the first random story of changes to tell; 0: any")
	stories = flag.Uint64("stories", 5, "how many random stories of changes to tell")
)

// Files change, upgrades fail and processes crash in random order, and no call fails. When all is
// quiet, calls go to the revision that the catalog has in service, now and after a restart.
func TestChangesInAnyOrder(t *testing.T) {
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	for i := range *stories {
		name := fmt.Sprintf("seed %d", first+i)
		if !t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tellChanges(t, rand.New(rand.NewPCG(first+i, 0))) })
		}) {
			t.Fatalf("run it again with -seed %d -stories 1", first+i)
		}
	}
}

// changes makes random changes to one plugin.
type changes struct {
	*release
	random *rand.Rand
	// has a token for each call; the holder of all tokens knows that no call runs
	calls chan struct{}
	under sync.WaitGroup

	mu    sync.Mutex
	story []string
}

const callers = 3

func tellChanges(t *testing.T, random *rand.Rand) {
	// In this test a crash must cause no long backoff and no quarantine. The tests of package
	// lifecycle check those.
	impatient := lifecycle.Config{InitialBackoff: time.Millisecond, MaxBackoff: 10 * time.Millisecond, MaxCrashes: 1000, IdleTimeout: 4 * time.Second}
	c := &changes{
		release: newReleaseWith(t, with(impatient)), random: random, calls: make(chan struct{}, callers),
	}
	c.catalog.Watch()
	stop := make(chan struct{})
	var calling sync.WaitGroup
	for i := range callers {
		// some pauses let the plugin become idle
		pause := time.Duration(100+i*random.IntN(3000)) * time.Millisecond
		calling.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(pause):
					c.calling()
				}
			}
		})
	}
	for range 5 + random.IntN(25) {
		time.Sleep(time.Duration(random.IntN(2500)) * time.Millisecond)
		c.anything()
	}
	c.under.Wait()
	// until the catalog has scanned the folder, and slow launches have ended
	time.Sleep(20 * time.Second)
	close(stop)
	calling.Wait()
	synctest.Wait()
	c.isConsistent()
	if t.Failed() {
		t.Logf("the story:\n%s", strings.Join(c.story, "\n"))
	}
}

// calling makes one call.
func (c *changes) calling() {
	c.calls <- struct{}{}
	defer func() { <-c.calls }()
	if got := c.version(); got == "" || strings.HasPrefix(got, "broken") {
		c.note("a call was answered by %q", got)
		c.t.Errorf("a call was answered by %q", got)
	}
}

// anything makes one random change. A change that takes time continues during the next ones.
func (c *changes) anything() {
	switch c.random.IntN(12) {
	case 0, 1, 2:
		kind := []string{"good", "good", "slow", "broken"}[c.random.IntN(4)]
		// Each file has another size. Without that, two changes within a tick of the file system's
		// clock would look the same.
		version := kind + strings.Repeat("i", 1+c.random.IntN(12))
		c.install(version)
		c.note("install %s", version)
	case 3, 4:
		c.order("reload", func() error { _, err := c.Reload(c.t.Context()); return err })
	case 5, 6:
		c.order("upgrade", func() error { _, err := c.Upgrade(c.t.Context(), "versioned", ""); return err })
	case 7, 8:
		c.order("rollback", func() error { _, err := c.Rollback(c.t.Context(), "versioned", 0, ""); return err })
	case 9:
		c.order("restart", func() error { _, err := c.Restart(c.t.Context(), "versioned", "", false); return err })
	case 10:
		c.order("drain", func() error { return c.Drain(c.t.Context(), "versioned", "") })
	default:
		c.crash()
	}
}

// order runs a command that takes time. It may fail, because the new executable may be broken.
func (c *changes) order(what string, do func() error) {
	c.note("%s ...", what)
	c.under.Go(func() {
		err := do()
		c.note("... %s: %v", what, err)
	})
}

// crash kills all processes while no call runs.
func (c *changes) crash() {
	for range callers {
		c.calls <- struct{}{}
	}
	for i := range c.started() {
		c.process(i).End(tool.Exit{Code: -1, Signal: "SIGSEGV"})
	}
	c.note("crash")
	for range callers {
		<-c.calls
	}
}

func (c *changes) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.story = append(c.story, fmt.Sprintf("%s %s", time.Now().Format("04:05.000"), fmt.Sprintf(format, args...)))
}

// isConsistent checks that routing, catalog and state folder agree, and that nothing is left to
// decide.
func (c *changes) isConsistent() {
	c.t.Helper()
	snapshot := c.catalog.Snapshot()
	p := snapshot.Plugin("versioned")
	if got := c.version(); got != p.Info.Version {
		c.t.Errorf("%s takes the calls, and the catalogue says %s", got, p.Info.Version)
	}
	instances, err := c.Instances(c.t.Context(), "versioned")
	if err != nil || len(instances) != 1 || instances[0].Digest != p.Digest {
		c.t.Errorf("instances %+v, %v, want one of %s", instances, err, p.Digest)
	}
	for _, candidate := range snapshot.Candidates() {
		c.t.Errorf("%s is neither in service nor turned down", candidate.Info.Version)
	}
	if revisions, turns := c.Remembered("versioned"); revisions != 1 || turns != 0 {
		c.t.Errorf("%d revisions and %d turns are remembered", revisions, turns)
	}
	c.Close()
	c.catalog.Close()
	again := c.openCatalog()
	if got := again.Snapshot().Plugin("versioned"); got.Digest != p.Digest {
		c.t.Errorf("after a restart it is %s, and was %s", got.Info.Version, p.Info.Version)
	}
}

// A file changes while its predecessor starts. The predecessor takes over, and then the new
// revision, if it starts.
func TestFileChangesWhileItsPredecessorWarms(t *testing.T) {
	for _, next := range []string{"3", "broken"} {
		t.Run(next, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testFileChangesWhileItsPredecessorWarms(t, next) })
		})
	}
}

func testFileChangesWhileItsPredecessorWarms(t *testing.T, next string) {
	c := &changes{release: newRelease(t)}
	c.version()
	c.gate = make(chan struct{})
	for _, version := range []string{"2", next} {
		c.install(version)
		c.order("reload", func() error { _, err := c.Reload(t.Context()); return err })
		synctest.Wait()
	}
	close(c.gate)
	c.under.Wait()
	synctest.Wait()
	want := next
	if next == "broken" {
		want = "2"
	}
	if got := c.version(); got != want {
		t.Errorf("version %s runs, want %s", got, want)
	}
	c.isConsistent()
}
