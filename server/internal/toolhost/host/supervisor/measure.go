package supervisor

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Measurements is the state of one plugin at a moment, for metrics.
type Measurements struct {
	Plugin    string
	State     tool.PluginState
	Instances map[tool.InstanceState]int
	Calls     int // that instances execute
	Queued    int // calls that wait for an instance
	MaxQueue  int // the largest number of calls that may wait
	RSSBytes  uint64
	CPU       time.Duration // of the instances that run
}

// Measure returns the state of the plugin. Like Instances, it asks the system about the processes
// without holding the mutex.
func (s *Supervisor) Measure() Measurements {
	m := Measurements{Plugin: s.name, Instances: map[tool.InstanceState]int{}}
	s.mu.Lock()
	r := s.machine.Report(time.Now())
	m.State, m.Queued, m.MaxQueue = r.State, len(s.queue.waiting), r.MaxQueue
	all := s.knownLocked()
	s.mu.Unlock()
	for _, k := range all {
		m.Instances[k.state.State]++
		m.Calls += k.state.Calls
		select {
		case <-k.in.ready:
			m.RSSBytes += k.in.proc.RSS()
			m.CPU += k.in.proc.CPU()
		default: // there is no process yet
		}
	}
	return m
}

// cpu returns the processor time of the process; 0 if there was none.
func (in *Instance) cpu() time.Duration {
	if in.proc == nil {
		return 0
	}
	return in.proc.CPU()
}

// Launched returns when a ready instance began to take calls, and how long its launch took.
func (in *Instance) Launched() (ready time.Time, took time.Duration) {
	return in.readyAt, in.readyAt.Sub(in.created)
}
