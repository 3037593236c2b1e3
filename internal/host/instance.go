package host

import (
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/catalog"
	"github.com/toolhost/toolhost/tool"
)

// instance is one plugin process with what the host knows of it.
type instance struct {
	id      string
	plugin  *catalog.Plugin
	created time.Time
	proc    Process // set by ready, before anybody else can reach the instance

	mu     sync.Mutex
	state  tool.InstanceState
	reason string // why it was told to stop; empty if it was not
	runs   map[*run]struct{}
	total  uint64
	waits  chan struct{} // closed when no run is left; nil if nobody waits
}

func newInstance(id string, p *catalog.Plugin) *instance {
	return &instance{id: id, plugin: p, created: time.Now(), state: tool.InstanceStarting, runs: map[*run]struct{}{}}
}

func (in *instance) ready(proc Process) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.proc = proc
	in.state = tool.InstanceReady
}

func (in *instance) launched() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.proc != nil
}

func (in *instance) setState(state tool.InstanceState) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.state = state
}

// begin counts a call in.
func (in *instance) begin(r *run) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.runs[r] = struct{}{}
	in.total++
}

// end counts a call out.
func (in *instance) end(r *run) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.runs, r)
	if len(in.runs) == 0 && in.waits != nil {
		close(in.waits)
		in.waits = nil
	}
}

// idle returns a channel that is closed once no call is left.
func (in *instance) idle() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	waits := in.waits
	if waits == nil {
		waits = make(chan struct{})
	}
	if len(in.runs) == 0 {
		close(waits)
	} else {
		in.waits = waits
	}
	return waits
}

// retire notes that the instance is to stop, and why. It returns false if that was noted before.
func (in *instance) retire(state tool.InstanceState, reason string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.reason != "" {
		return false
	}
	in.state, in.reason = state, reason
	return true
}

func (in *instance) stopReason() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.reason
}

// cancelRuns ends the calls that are left.
func (in *instance) cancelRuns(cause error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for r := range in.runs {
		r.cancel(cause)
	}
}

func (in *instance) info() tool.InstanceInfo {
	in.mu.Lock()
	info := tool.InstanceInfo{
		ID:         in.id,
		Plugin:     in.plugin.Info.Name,
		State:      in.state,
		Calls:      len(in.runs),
		TotalCalls: in.total,
		StartTime:  in.created,
		Digest:     in.plugin.Digest,
	}
	proc := in.proc
	in.mu.Unlock()
	if proc != nil {
		info.PID = proc.PID()
		info.RSSBytes = proc.RSS()
		if info.State == tool.InstanceReady && !proc.Alive() {
			info.State = tool.InstanceStopping // dead, and about to be noticed
		}
	}
	return info
}
