package limits

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// canWatch says that this system shows memory and descendants of processes.
const canWatch = true

// cpuPeriod is the period over which CPU time is counted, in microseconds: the kernel's default.
const cpuPeriod = 100_000

// setGroup writes the limits of a controller into the group.
func (h *Holder) setGroup(g group, controller string) error {
	if err := h.writeLimit(g, controller); err != nil {
		return fmt.Errorf("setting it in %s: %w", g.dir, err)
	}
	return nil
}

func (h *Holder) writeLimit(g group, controller string) error {
	bytes := strconv.FormatUint(h.cfg.MemoryBytes, 10)
	quota := strconv.FormatInt(int64(math.Ceil(h.cfg.CPUs*cpuPeriod)), 10)
	period := strconv.Itoa(cpuPeriod)
	switch {
	case controller == "memory" && g.version == 2:
		return errors.Join(
			write(g.dir, "memory.max", bytes),
			optional(write(g.dir, "memory.swap.max", "0")),
			write(g.dir, "memory.oom.group", "1"))
	case controller == "memory":
		return errors.Join(
			write(g.dir, "memory.limit_in_bytes", bytes),
			optional(write(g.dir, "memory.memsw.limit_in_bytes", bytes)))
	case controller == "cpu" && g.version == 2:
		return write(g.dir, "cpu.max", quota+" "+period)
	case controller == "cpu":
		return errors.Join(write(g.dir, "cpu.cfs_period_us", period), write(g.dir, "cpu.cfs_quota_us", quota))
	}
	return h.setTasks(g, 0)
}

// setTasks sets the bound of processes and threads to the limit plus more.
func (h *Holder) setTasks(g group, more int) error {
	return write(g.dir, "pids.max", strconv.Itoa(h.cfg.Processes+more))
}

// optional returns nil if the error says that a file does not exist. Kernels without swap
// accounting do not have the files for it.
func optional(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Start calls start so that the new process is in its groups from the beginning. In version 2 the
// kernel puts it there: start gets a descriptor of the group's folder for SysProcAttr.CgroupFD. If
// this kernel does not support that, Start calls start again with -1. In version 1 a process begins
// in the groups of the thread that starts it, so this thread moves into the groups and back. The
// calling goroutine must be locked to its thread. stuck means that the thread could not move back,
// and must end with its goroutine.
func (h *Holder) Start(start func(cgroup int) error) (stuck bool, err error) {
	var entered []group
	for _, g := range h.groups {
		if g.version != 1 {
			continue
		}
		if err := h.enter(g); err != nil {
			h.drops(g, err)
		} else {
			entered = append(entered, g)
		}
	}
	if err = h.refuse(); err == nil {
		err = h.startIn2(start)
	}
	for _, g := range entered {
		stuck = h.leave(g) != nil || stuck
	}
	return stuck, err
}

// startIn2 calls start with the instance's group of version 2, if there is one.
func (h *Holder) startIn2(start func(cgroup int) error) error {
	at := slices.IndexFunc(h.groups, func(g group) bool { return g.version == 2 })
	if at < 0 {
		return start(-1)
	}
	g := h.groups[at]
	fd, err := unix.Open(g.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = start(fd)
		if err == nil || !cannotClone(err) {
			return err
		}
	}
	h.drops(g, fmt.Errorf("starting a process in %s: %w", g.dir, err))
	if err := h.refuse(); err != nil {
		return err
	}
	return start(-1)
}

// cannotClone reports whether the kernel, or a filter of its calls, does not start processes in
// groups.
func cannotClone(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) ||
		errors.Is(err, unix.EPERM) || errors.Is(err, unix.EBUSY) || errors.Is(err, unix.ENODEV)
}

// self means the writing thread when it is written to a group's file tasks.
const self = "0"

func (h *Holder) enter(g group) error {
	if h.cfg.Processes > 0 && h.inCharge(g) {
		if err := h.setTasks(g, 1); err != nil { // one more, for the thread that visits
			return err
		}
	}
	if err := write(g.dir, "tasks", self); err != nil {
		return fmt.Errorf("entering the control group %s: %w", g.dir, err)
	}
	return nil
}

func (h *Holder) leave(g group) error {
	err := write(g.home, "tasks", self)
	if h.cfg.Processes > 0 && h.inCharge(g) {
		err = errors.Join(err, h.setTasks(g, 0))
	}
	return err
}

// inCharge reports whether this group is the one that counts processes.
func (h *Holder) inCharge(g group) bool { return slices.Contains(g.controllers, "pids") }

// rlimitFor returns the resource limit by which the kernel bounds each process.
func rlimitFor(name string) (mechanism, note string) {
	if name == OpenFiles {
		return Rlimit, "of each process"
	}
	return Rlimit, "of each file"
}

// noDump is the size limit that prevents core dumps. The limit 0 does not prevent them if the
// system pipes dumps to a program, which would run outside of the sandbox.
const noDump = 1

// setRlimits sets the process's own resource limits, which its descendants inherit. No process
// leaves a dump of its memory, which may be large and contain secrets.
func (h *Holder) setRlimits(pid int) {
	set := func(resource int, value uint64) error {
		return unix.Prlimit(pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil)
	}
	_ = set(unix.RLIMIT_CORE, noDump)
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{OpenFiles, unix.RLIMIT_NOFILE, uint64(max(0, h.cfg.OpenFiles))},
		{FileSize, unix.RLIMIT_FSIZE, h.cfg.FileBytes},
	} {
		if l.value == 0 {
			continue
		}
		err := set(l.resource, l.value)
		if errors.Is(err, unix.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			h.fell(l.name, fmt.Errorf("setting it: %w", err))
		}
	}
}

// usage is what all processes of an instance use together.
type usage struct {
	memory uint64
	tasks  int
}

// watch passes the usage of the processes below roots to passed, once in a watchInterval, until ctx
// ends. Without look, it does not measure the usage. It also calls passed, with killed, at the
// beginning and for each value of kills, unless kills is nil. If passed returns a reason, watch
// calls kill with it and returns.
func (h *Holder) watch(ctx context.Context, roots []int, kill func(string), passed func(u usage, killed bool) string, look bool, kills <-chan struct{}) {
	var again <-chan time.Time
	if look {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		again = tick.C
	}
	for killed := kills != nil; ; {
		var u usage
		if look {
			u = used(roots)
		}
		if reason := passed(u, killed); reason != "" {
			kill(reason)
			return
		}
		select {
		case <-again:
			killed = false
		case <-kills:
			killed = true
		case <-ctx.Done():
			return
		}
	}
}

// used measures the processes below roots.
func used(roots []int) (u usage) {
	for _, pid := range proc.Tree(roots...) {
		size, tasks, err := proc.Usage(pid)
		if err == nil { // with an error, the process has just ended
			u.memory, u.tasks = u.memory+size, u.tasks+tasks
		}
	}
	return u
}
