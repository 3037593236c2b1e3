package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// load runs callers of the plugin versionplugin without a pause while the plugin's executable
// changes. Each call must succeed, and a version must answer it that was in service, or about to
// be, during the call.
type load struct {
	t      *testing.T
	host   *toolhost
	client *client.Client
	stop   chan struct{}
	group  sync.WaitGroup

	ids atomic.Int64 // gives each write a unique text

	mu sync.Mutex
	// sets of versions that may answer, in order; a call may see the sets between its start and its
	// end
	eras    [][]string
	answers map[string]int // number of calls by answering version
	written map[string]string
	pids    map[int]bool // every process id seen
}

const (
	callersOfLoad = 16 // the number in the specification of an upgrade
	// pace is the pause of each caller between two calls. With it, some call runs at every moment,
	// and the machine still has time for the upgrades under test.
	pace = 20 * time.Millisecond
)

// startLoad returns when each version in service has answered.
func startLoad(t *testing.T, h *toolhost, version string) *load {
	t.Helper()
	l := &load{
		t: t, host: h, client: h.dial(t), stop: make(chan struct{}),
		eras: [][]string{{version}}, answers: map[string]int{}, written: map[string]string{}, pids: map[int]bool{},
	}
	for i := range callersOfLoad {
		l.group.Go(func() { // ends with stop, or with its first failed call
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for n := i; ; n++ {
				select {
				case <-l.stop:
					return
				case <-tick.C:
				}
				if ok := l.call(n%2 == 0); !ok {
					return
				}
			}
		})
	}
	l.answered(version)
	return l
}

// call makes one call and reports whether it ended correctly.
func (l *load) call(reads bool) bool {
	call := tool.Call{Tool: "versionplugin_read", Arguments: json.RawMessage(`{}`), Timeout: patience}
	text := ""
	if !reads {
		text = fmt.Sprintf("call-%d", l.ids.Add(1))
		call.Tool, call.Arguments = "versionplugin_write", json.RawMessage(`{"file":"written","text":"`+text+`"}`)
	}
	first := l.era()
	outcome, err := l.client.Call(l.t.Context(), call)
	if err != nil || outcome.Result.IsError {
		l.t.Errorf("a call of %s failed: %s %v %q", call.Tool, tool.KindOf(err), err, outcome.Result.Text())
		return false
	}
	version := outcome.Result.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[version]++
	if !reads {
		l.written[text] = version
	}
	if allowed := slices.Concat(l.eras[first:]...); !slices.Contains(allowed, version) {
		l.t.Errorf("a call of %s was answered by version %q of %s, want one of %q", call.Tool, version, outcome.Instance, allowed)
		return false
	}
	return true
}

func (l *load) era() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.eras) - 1
}

// may starts a period in which only these versions may answer.
func (l *load) may(versions ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.eras = append(l.eras, versions)
}

// answered waits for a new answer of the version.
func (l *load) answered(version string) {
	l.t.Helper()
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.answers[version]
	}
	before := count()
	eventually.Holds(l.t, "a caller is answered by version "+version, func() bool { return l.t.Failed() || count() > before })
}

// exchange changes the executable from one version to another. Calls in progress are answered by
// the old version. After the change only the new version answers.
func (l *load) exchange(from, to string, do func()) {
	l.t.Helper()
	l.note()
	release := l.hold(from)
	l.may(from, to)
	do()
	l.may(to)
	l.answered(to)
	release()
}

// hold starts a call that lasts until the returned function is called, which checks the version of
// the answer.
func (l *load) hold(version string) (release func()) {
	l.t.Helper()
	until := fmt.Sprintf("release-%d", l.ids.Add(1))
	arguments := json.RawMessage(`{"until":"` + until + `"}`)
	e, err := l.client.Open(l.t.Context(), tool.Call{Tool: "versionplugin_hold", Arguments: arguments, Timeout: patience}, true)
	if err != nil {
		l.t.Fatal(err)
	}
	next := func() tool.Event {
		ev, err := e.Next(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		return ev
	}
	for next().Started == nil {
	}
	return func() {
		l.t.Helper()
		defer e.Close()
		write(l.t, filepath.Join(l.host.workspace, until), "", 0o600)
		ev := next()
		for ev.Ended == nil {
			ev = next()
		}
		if ev.Ended.Err != nil || ev.Ended.Result.Text() != version {
			l.t.Errorf("the call that was at work ended with %v %q, want version %s", ev.Ended.Err, ev.Ended.Result.Text(), version)
		}
	}
}

// note records the present processes.
func (l *load) note() {
	l.t.Helper()
	instances, err := l.client.Admin().Instances(l.t.Context(), "versionplugin")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, in := range instances {
		if in.PID > 0 {
			l.pids[in.PID] = true
		}
	}
}

// digest returns the digest in service.
func (l *load) digest() string {
	l.t.Helper()
	plugins, err := l.client.Admin().Plugins(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	for _, p := range plugins {
		if p.Name == "versionplugin" {
			return p.Digest
		}
	}
	l.t.Fatal("the plugin is gone")
	return ""
}

// end stops the callers and checks the result: every write happened once, and one process of the
// version in service is left.
func (l *load) end() {
	l.t.Helper()
	l.note()
	close(l.stop)
	l.group.Wait()
	current := l.digest()
	eventually.Holds(l.t, "one process is left, of the executable that is in service", func() bool {
		instances, err := l.client.Admin().Instances(l.t.Context(), "versionplugin")
		if err != nil || len(instances) != 1 || instances[0].Digest != current {
			return false
		}
		return !slices.ContainsFunc(slices.Collect(maps.Keys(l.pids)), func(pid int) bool {
			return pid != instances[0].PID && running(pid)
		})
	})
	l.t.Logf("calls by the version that answered: %v; processes: %d", l.answers, len(l.pids))
	l.checkWritten()
}

// checkWritten compares the side effects with the answers.
func (l *load) checkWritten() {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.host.workspace, "written"))
	if err != nil {
		l.t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(data)) {
		text, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, twice := found[text]; twice {
			l.t.Errorf("%s was executed twice", text)
		}
		found[text] = version
	}
	if !maps.Equal(found, l.written) {
		l.t.Errorf("%d side effects, %d calls that had any: they differ", len(found), len(l.written))
	}
}

// installStamped installs an executable of versionplugin with the given version and fault.
func installStamped(t *testing.T, h *toolhost, version, fault, later string) {
	t.Helper()
	stamp, err := json.Marshal(map[string]string{"version": version, "fault": fault, "later": later})
	if err != nil {
		t.Fatal(err)
	}
	install(t, h, "versionplugin", "versionplugin", "\n"+string(stamp))
}
