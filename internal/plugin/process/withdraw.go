package process

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// mostPlans bounds how often a process is started again because files changed meanwhile.
const mostPlans = 10

// errUnsteady says that a process was not started because its protected names changed in every try.
var errUnsteady = errors.New("preparing its sandbox: files of toolhost's own are being replaced again and again, so that they cannot be protected")

// watchedPlan plans the sandbox and watches the names on which its protection depends. It compares
// the names once more after the watch began, so that no change is missed. The process makes its
// mounts later, of the files that have the names then.
func (p *Process) watchedPlan(cfg sandbox.Config, situation sandbox.Situation) (*sandbox.Plan, error) {
	for range mostPlans {
		plan, err := sandbox.New(cfg, situation)
		if err != nil {
			return nil, err
		}
		p.stopWatching()
		stop, err := p.cfg.Names.Watch(plan.Names(), func(path string) {
			if path != "" || !plan.SameNames() {
				p.nameChanged(path)
			}
		})
		if err != nil && cfg.Mode == sandbox.ModeRequired {
			plan.Close()
			return nil, &sandbox.RefusedError{Layer: tool.SandboxLayer{Name: sandbox.Files, Note: unwatched(err)}}
		}
		p.mu.Lock()
		p.unwatch, p.unwatched = stop, err
		p.mu.Unlock()
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

// tellUnwatched notes in the layer `files` that names are not watched.
func (p *Process) tellUnwatched() {
	p.mu.Lock()
	err := p.unwatched
	p.mu.Unlock()
	if err == nil {
		return
	}
	for i := range p.sandbox.Layers {
		if layer := &p.sandbox.Layers[i]; layer.Name == sandbox.Files && layer.Effective {
			layer.Note = unwatched(err)
		}
	}
}

// stopWatching ends the watch of names, if there is one.
func (p *Process) stopWatching() {
	p.mu.Lock()
	stop := p.unwatch
	p.unwatch = nil
	p.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// nameChanged kills the process. The kernel has removed the mount over the name, or there was none,
// and the plugin can reach the file that has the name now. An empty path stands for any of the
// names. nameChanged does not block.
func (p *Process) nameChanged(path string) {
	path = cmp.Or(path, "a file of toolhost's own")
	p.mu.Lock()
	if p.withdrawn == "" {
		p.withdrawn = fmt.Sprintf("%s was made, replaced or removed while the plugin ran, which could not be kept from it any longer", path)
	}
	reason := p.withdrawn
	p.mu.Unlock()
	select {
	case <-p.spawned:
		p.kill(reason)
	default: // start checks it later
	}
}

// Withdrawn returns why toolhost ended the process by itself: a name that its sandbox protects came
// to denote another file. It returns "" otherwise.
func (p *Process) Withdrawn() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.withdrawn
}
