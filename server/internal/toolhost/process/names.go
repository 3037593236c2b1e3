package process

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/toolhost/toolhost/server/internal/toolhost/namewatch"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// mostPlans bounds how often the start of a process is repeated because files changed meanwhile.
const mostPlans = 10

// errUnsteady says that a process was not started because its protected names changed in every try.
var errUnsteady = errors.New("preparing its sandbox: files of toolhost's own are being replaced again and again, so that they cannot be protected")

// watchedNames watches the names on which a process's sandbox depends. The sandbox protects the
// files that have these names when the process starts. If another file gets one of the names, the
// plugin can reach that file. watchedNames then withdraws the process: it ends the process, and
// records the reason. If the process does not exist yet, Process.start ends it as soon as it does.
// A watchedNames is safe for concurrent use.
type watchedNames struct {
	watcher *namewatch.Watcher  // nil: names are not watched
	end     func(reason string) // ends the process if it exists; it does not block

	mu        sync.Mutex
	reason    string // why the process is withdrawn; empty: it is not
	unwatch   func() // ends the watch of names; nil: names are not watched
	unwatched error  // why names are not watched
}

// plan plans the sandbox and watches the names on which its protection depends. It compares the
// names once more after the watch began, so that no change is missed. The process makes its mounts
// later, of the files that have the names then.
func (n *watchedNames) plan(cfg sandbox.Config, situation sandbox.Situation) (*sandbox.Plan, error) {
	for range mostPlans {
		plan, err := sandbox.New(cfg, situation)
		if err != nil {
			return nil, err
		}
		n.stop()
		stop, err := n.watcher.Watch(plan.Names(), func(path string) {
			if path != "" || !plan.SameNames() {
				n.changed(path)
			}
		})
		if err != nil && cfg.Mode == sandbox.ModeRequired {
			plan.Close()
			return nil, &sandbox.RefusedError{Layer: tool.SandboxLayer{Name: sandbox.Files, Note: unwatched(err)}}
		}
		n.mu.Lock()
		n.unwatch, n.unwatched = stop, err
		n.mu.Unlock()
		if plan.SameNames() {
			return plan, nil
		}
		plan.Close()
	}
	return nil, errUnsteady
}

func unwatched(err error) string {
	return fmt.Sprintf("the replacement of a protected file goes unnoticed, and the plugin may change the new one: %v", err)
}

// note records in the layer `files` that names are not watched.
func (n *watchedNames) note(layers []tool.SandboxLayer) {
	n.mu.Lock()
	err := n.unwatched
	n.mu.Unlock()
	if err == nil {
		return
	}
	for i := range layers {
		if layer := &layers[i]; layer.Name == sandbox.Files && layer.Effective {
			layer.Note = unwatched(err)
		}
	}
}

// stop ends the watch of names, if there is one.
func (n *watchedNames) stop() {
	n.mu.Lock()
	stop := n.unwatch
	n.unwatch = nil
	n.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// changed withdraws the process. The kernel has removed the mount over the name, or there was none,
// and the plugin can reach the file that has the name now. An empty path stands for any of the
// names. changed does not block.
func (n *watchedNames) changed(path string) {
	path = cmp.Or(path, "a file of toolhost's own")
	n.mu.Lock()
	if n.reason == "" {
		n.reason = fmt.Sprintf("%s was made, replaced or removed while the plugin ran, which could not be kept from it any longer", path)
	}
	reason := n.reason
	n.mu.Unlock()
	n.end(reason)
}

// Withdraw kills the process for a reason that is not the plugin's fault. Its exit does not count
// as a crash. Withdraw does not block.
func (p *Process) Withdraw(reason string) {
	p.names.mu.Lock()
	if p.names.reason == "" {
		p.names.reason = reason
	}
	p.names.mu.Unlock()
	p.withdraw(reason)
}

// withdrawn returns why the process is withdrawn, or "".
func (n *watchedNames) withdrawn() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reason
}
