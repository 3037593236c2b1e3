package agent

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// run is a run at work. Its goroutine folds the journal, starts and stops tasks so that they match
// the commands of Next, and appends the resulting events. Only this goroutine writes the journal
// and the feed.
type run struct {
	agent *Agent
	// the configuration that the run works with; set to its own one before the first task
	config *configured
	// models are those of the run, the first one first. If there is none, noModel says why. Both are
	// set before the first task.
	models  []routed
	noModel error
	id      string
	log     runLog
	feed    feed
	parent  string        // the run that has it as a sub-run; empty: none
	sub     bool          // whether it is a sub-run
	owner   string        // the key of its principal
	waits   atomic.Bool   // it waits only for a person
	counted bool          // in atWork.working; guarded by its mu
	fresh   bool          // this agent has just started it
	tries   int           // failed writes of the journal in a row
	epoch   uint64        // of its claim
	lost    chan struct{} // capacity 1; signals that another process had the claim meanwhile
	woken   chan struct{} // capacity 1; signals that the inbox is not empty
	parked  chan struct{} // closed when its family was given up
	done    chan struct{} // closed when the goroutine ends; then next and err are set
	next    time.Time     // when the family that it gave up goes on by itself; zero: never
	err     error         // why the goroutine ended before that, and before the end of the run
	inbox   []*input      // guarded by atWork.mu
	rest    *rest         // nil: it has something to do; guarded by atWork.mu
	posted  bool          // its inbox in the store may have entries; guarded by atWork.mu

	// Only the goroutine uses these:
	state   loop.State
	tail    tail             // what the journal has after the snapshot
	free    bool             // the last append left no decisions to wait for
	tasks   map[string]*task // in progress, by the command's name
	updates chan update      // from the tasks
	group   sync.WaitGroup   // the tasks' goroutines
	offered *offer           // from the last list of tools; nil: there is none
	alarm   alarm            // for Wait
	slot    slot

	schema answerSchema // of the answer

	observed *observed // nil: there is no observer; set before the first task

	// previews are the open previews of the last response, until its calls begin.
	previews previews

	// inherited are the calls that an earlier process may have begun. It is only read once a task
	// has started.
	inherited map[string]bool
}

func newRun(a *Agent, k runRef) *run {
	r := &run{
		agent: a, config: a.config(), id: k.id, log: newRunLog(a, k.id), parent: k.parent, sub: k.parent != "", owner: k.owner, fresh: k.fresh, tries: k.tries, epoch: k.epoch, lost: make(chan struct{}, 1), parked: make(chan struct{}), done: make(chan struct{}), woken: make(chan struct{}, 1), tasks: make(map[string]*task), updates: make(chan update),
	}
	r.slot.run = r
	// watchers read the journal up to there, also while the run waits for a slot
	r.feed.begin(k.last)
	return r
}
