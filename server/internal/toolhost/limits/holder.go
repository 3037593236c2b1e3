package limits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// Holder enforces the limits of one instance. Its methods are safe for concurrent use, except where
// they say otherwise.
type Holder struct {
	cfg    Config
	groups []group           // set once, before the holder is shared
	broken map[string]string // by controller: why the instance got no group of it
	kills  *killWatch        // of all instances of the Cgroups; nil: there are no groups

	mu        sync.Mutex
	effective []tool.EffectiveLimit
	oom       string // why it was killed because memory ran out, once that is known
}

// group is the instance's control group in one hierarchy.
type group struct {
	hierarchy
	dir string
}

// Hold makes the holder of an instance before the instance starts. name names its groups for
// people. Hold fails if a required limit cannot be enforced. Call Close when the instance is gone.
func Hold(cfg Config, cgroups *Cgroups, name string) (*Holder, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	h := &Holder{cfg: cfg, broken: map[string]string{}, effective: cfg.wanted()}
	if cgroups != nil {
		h.kills = &cgroups.kills
	}
	h.makeGroups(cgroups, name)
	h.choose(cgroups)
	if err := h.refuse(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// makeGroups makes a group in every hierarchy that a limit needs. In version 2 it always makes one,
// because the kernel can kill all processes in such a group at once, wherever they moved.
func (h *Holder) makeGroups(cgroups *Cgroups, name string) {
	if cgroups == nil {
		return
	}
	for _, in := range cgroups.hierarchies {
		if in.version == 1 && !slices.ContainsFunc(in.controllers, h.needs) {
			continue
		}
		dir, err := os.MkdirTemp(in.own, groupName(name)+"-")
		if err != nil {
			h.breaks(in.controllers, fmt.Errorf("making a control group: %w", err))
			continue
		}
		g := group{in, dir}
		h.groups = append(h.groups, g)
		for _, controller := range in.controllers {
			if h.needs(controller) {
				h.breaks([]string{controller}, h.setGroup(g, controller))
			}
		}
	}
}

// breaks records why the controllers enforce nothing, if err is not nil.
func (h *Holder) breaks(controllers []string, err error) {
	for _, controller := range controllers {
		if err != nil {
			h.broken[controller] = err.Error()
		}
	}
}

// needs reports whether a limit needs the controller.
func (h *Holder) needs(controller string) bool {
	return slices.ContainsFunc(h.effective, func(l tool.EffectiveLimit) bool { return controllerOf(l.Name) == controller })
}

// controllerOf returns the controller that enforces a limit; "" if none does.
func controllerOf(limit string) string {
	switch limit {
	case Memory:
		return "memory"
	case CPU:
		return "cpu"
	case Processes:
		return "pids"
	}
	return ""
}

// groupName turns an instance's name into one for a folder.
func groupName(name string) string {
	const longest = 64
	safe := []byte(name)
	for i, b := range safe {
		if !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_') {
			safe[i] = '_'
		}
	}
	return "i-" + string(safe[:min(longest, len(safe))])
}

// choose chooses the mechanism of each limit.
func (h *Holder) choose(cgroups *Cgroups) {
	for i := range h.effective {
		l := &h.effective[i]
		controller := controllerOf(l.Name)
		if controller == "" {
			l.Mechanism, l.Note = rlimitFor(l.Name)
			continue
		}
		in, found := cgroups.with(controller)
		why := cgroups.why(controller)
		if reason, broken := h.broken[controller]; broken {
			found, why = false, reason
		}
		switch {
		case found && in.version == 2:
			l.Mechanism = Cgroup2
		case found:
			l.Mechanism = Cgroup1
		case l.Name != CPU && canWatch:
			l.Mechanism, l.Note = Watchdog, watchNote+why
		case l.Name == CPU:
			l.Note = "only control groups can slow a process down; " + why
		default:
			l.Note = why
		}
	}
}

// refuse returns an error if no mechanism enforces a required limit.
func (h *Holder) refuse() error {
	if h.cfg.Enforcement != Required {
		return nil
	}
	for _, l := range h.Effective() {
		if l.Mechanism == None {
			return &RefusedError{Limit: l}
		}
	}
	return nil
}

// Effective returns the mechanism of each limit that is set.
func (h *Holder) Effective() []tool.EffectiveLimit {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.effective)
}

// by reports whether the mechanism enforces the limit.
func (h *Holder) by(name, mechanism string) bool {
	return slices.ContainsFunc(h.Effective(), func(l tool.EffectiveLimit) bool { return l.Name == name && l.Mechanism == mechanism })
}

// Started sets the limits that need a running process. Call it right after the start: files that
// the process opened and processes that it started before are not covered. An error means that a
// required limit is not enforced.
func (h *Holder) Started(pid int) error {
	h.setRlimits(pid)
	return h.refuse()
}

// drops records that the group does not contain the instance, and lets the watchdog enforce its
// limits as far as possible.
func (h *Holder) drops(g group, err error) {
	for _, name := range []string{Memory, CPU, Processes} {
		if slices.Contains(g.controllers, controllerOf(name)) {
			h.fell(name, err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.effective {
		if l := &h.effective[i]; l.Mechanism == None && canWatch && (l.Name == Memory || l.Name == Processes) {
			l.Mechanism, l.Note = Watchdog, watchNote+l.Note
		}
	}
}

// watchNote is the note on limits that the watchdog enforces.
const watchNote = "it looks twice a second, and kills; "

// fell records that the limit is not enforced.
func (h *Holder) fell(name string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.effective {
		if h.effective[i].Name == name {
			h.effective[i].Mechanism, h.effective[i].Note = None, err.Error()
		}
	}
}

// OutOfMemory reports whether a process of the instance was killed because memory ran out, and by
// which limit. Call it before Close.
func (h *Holder) OutOfMemory() (reason string, killed bool) {
	h.mu.Lock()
	oom := h.oom
	h.mu.Unlock()
	if oom == "" {
		for _, g := range h.groups {
			if !slices.Contains(g.controllers, controllerOf(Memory)) {
				continue // it counts no kills
			}
			if n, err := h.kills.of(g); err == nil && n > 0 {
				oom = h.overMemory(fmt.Sprintf("cgroup%d", g.version))
			}
		}
	}
	return oom, oom != ""
}

func (h *Holder) overMemory(mechanism string) string {
	if h.cfg.MemoryBytes == 0 {
		return "the machine, or the control group that toolhost is in, ran out of memory"
	}
	return fmt.Sprintf("it used more than its memory limit of %s (%s)", mebibytes(h.cfg.MemoryBytes), mechanism)
}

// Kill sends SIGKILL to all processes in the instance's groups. It does not block. Without groups
// it does nothing.
func (h *Holder) Kill() {
	for _, g := range h.groups {
		_ = killGroup(g.dir) // Close reports processes that do not die
	}
}

// Close kills the processes in the instance's groups, and removes the groups. It blocks until the
// kernel has removed the processes, at most a few seconds for each group.
func (h *Holder) Close() error {
	var errs []error
	for _, g := range h.groups {
		errs = append(errs, removeTree(g.dir))
	}
	return errors.Join(errs...)
}

// Groups returns the folders of the instance's control groups.
func (h *Holder) Groups() []string {
	var dirs []string
	for _, g := range h.groups {
		dirs = append(dirs, filepath.Clean(g.dir))
	}
	return dirs
}

// Watch looks at the instance until ctx ends, if a limit needs it. It calls kill once with the
// reason when a limit is passed. roots are the processes from which all others of the instance
// descend.
func (h *Holder) Watch(ctx context.Context, roots []int, kill func(reason string)) {
	memory, processes, oom := h.by(Memory, Watchdog), h.by(Processes, Watchdog), h.by(Memory, Cgroup1)
	if !memory && !processes && !oom {
		return
	}
	var kills <-chan struct{}
	if oom && h.kills != nil {
		var end func()
		kills, end = h.kills.follow()
		defer end()
	}
	h.watch(ctx, roots, kill, func(u usage, killed bool) string {
		if killed {
			// Version 1 kills only the largest process. The rest of the instance is useless, and
			// version 2 would kill it.
			if reason, out := h.OutOfMemory(); out {
				return reason
			}
		}
		switch {
		case memory && u.memory > h.cfg.MemoryBytes:
			reason := h.overMemory(Watchdog)
			h.mu.Lock()
			h.oom = reason
			h.mu.Unlock()
			return reason
		case processes && u.tasks > h.cfg.Processes:
			return fmt.Sprintf("it had %d processes and threads, its limit is %d (%s)", u.tasks, h.cfg.Processes, Watchdog)
		}
		return ""
	}, memory || processes, kills)
}
