package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/namewatch"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
)

// runtimeDir holds what plugin processes need at run time, and what removes it: a folder for their
// sockets, their control groups, and the reaper, which outlives toolhost for a moment.
type runtimeDir struct {
	runDir *reaper.RunDir
	groups *limits.Cgroups
	guard  *reaper.Handle
	names  *namewatch.Watcher // nil if the kernel does not support it
}

// openRuntimeDir removes what killed toolhosts left if their reapers died too, and makes a runtime
// directory for this one, with a reaper that removes the sockets if this process is killed. The
// caller closes it after all processes have ended.
func openRuntimeDir(ctx context.Context, sockets []string, logger *slog.Logger) (*runtimeDir, error) {
	parent := runDirParent()
	sweep(parent, logger)
	runDir, err := reaper.MakeRunDir(parent)
	if err != nil {
		return nil, fmt.Errorf("%w; set TMPDIR to a folder that can be written", err)
	}
	y := &runtimeDir{runDir: runDir, groups: limits.OpenCgroups()}
	if y.guard, err = startReaper(ctx, runDir.Path(), y.groups, sockets, logger); err != nil {
		y.close()
		return nil, err
	}
	if y.names, err = namewatch.Open(); err != nil {
		logger.Warn("files of toolhost's own that are replaced while plugins run go unnoticed", "error", err)
	}
	return y, nil
}

// launching returns what a launch.Launcher needs of the directory. logger gets the log of the
// processes.
func (y *runtimeDir) launching(logger *slog.Logger) launch.Config {
	return launch.Config{RunDir: y.runDir.Path(), Reaper: y.guard, Cgroups: y.groups, Names: y.names, Logger: logger}
}

func (y *runtimeDir) close() {
	if y.guard != nil {
		y.guard.Close()
	}
	y.names.Close()
	y.groups.Close()
	y.runDir.Close()
}

// runDirParent returns the parent of runtime directories. Its path is short, because the path of a
// socket is bounded.
func runDirParent() string {
	const room = 73 // for the folders of a toolhost, of a process and of its socket
	return address.TempDir(room)
}

// sweep removes what killed toolhosts left if their reapers died too. If sweep cannot remove
// something, that does no harm.
func sweep(parent string, logger *slog.Logger) {
	swept, err := reaper.Sweep(parent)
	if err != nil {
		logger.Warn("removing what dead toolhosts left", "error", err)
	}
	if swept != (reaper.Swept{}) {
		logger.Info("removed what dead toolhosts left", "run_dirs", swept.RunDirs, "processes", swept.Processes, "cgroups", swept.Cgroups)
	}
}

// startReaper starts this program a second time as the reaper, which cleans up after toolhost,
// however toolhost ends.
func startReaper(ctx context.Context, runDir string, groups *limits.Cgroups, sockets []string, logger *slog.Logger) (*reaper.Handle, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting the reaper: %w", err)
	}
	guard, err := reaper.Start(ctx, reaper.Config{
		Command: []string{self, reaperCommand}, RunDir: runDir, Cgroups: groups.Dirs(), Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	if err := guard.SetSockets(ctx, sockets...); err != nil {
		guard.Close()
		return nil, err
	}
	return guard, nil
}
