package process

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/namewatch"
	"github.com/toolhost/toolhost/internal/plugin/reaper"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

const (
	defaultStartTimeout = 30 * time.Second
	defaultStopTimeout  = 5 * time.Second
)

// Config says what to launch and how.
type Config struct {
	// Plugin and Instance name the process in logs and errors. Required.
	Plugin, Instance string
	// Path is the executable's absolute path. Required.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is added to the few variables that every plugin gets (PATH, LANG, LC_ALL and TZ of toolhost; HOME and TMPDIR,
	// which are the process's own folder) and replaces those of the same name. PLUGIN_… and TOOLHOST_INSTANCE are
	// refused. Nothing else of toolhost's environment reaches a plugin.
	Env []string
	// Dir is where the process starts. Empty means its own temporary folder.
	Dir string
	// RunDir is the folder in which the process gets a folder of its own, for its socket and its temporary files; that one
	// is removed when the process has ended. RunDir must be there, must be nobody else's (mode 0700) and its path must
	// be short, since a socket's path is at most about 100 bytes long. Required.
	RunDir string
	// StartTimeout bounds the launch, from the start to the first answer. 0: 30 s.
	StartTimeout time.Duration
	// StopTimeout bounds each step of Stop after the first. 0: 5 s.
	StopTimeout time.Duration
	// Logger gets what the process prints, with plugin, instance and pid. It may be slow, but its handler must not block
	// for ever. Nil: none.
	Logger *slog.Logger
	// LineBytes is how much of a line that the process prints is kept. 0: 8 KiB.
	LineBytes int
	// LinesPerSecond is how many lines of standard error are logged in a second, and at once; the rest is counted. 0:
	// 1,000.
	LinesPerSecond int
	// Redact returns a line that the process printed as it may be shown and kept; cut says that its end is missing. It must not
	// block. Nil: as it is.
	Redact func(line string, cut bool) string
	// Guard is told of the process's group while it runs, and its token is part of the process's mark. Nil: none.
	Reaper *reaper.Handle
	// Limits is what the process and all that it starts may use. Zero: all there is.
	Limits limits.Config
	// Cgroups is where the process gets its control groups. By them some limits hold, and what the process started is
	// found wherever it hides. Nil: limits hold by other means, as far as there are any.
	Cgroups *limits.Cgroups
	// PIDNamespace says whether the process gets a PID namespace, so that whatever it started dies with it.
	PIDNamespace NamespaceMode
	// Sandbox is what the process may touch besides its program, the folder that Dir names, which it may read, and its own
	// folders. Zero: whatever toolhost may.
	Sandbox sandbox.Config
	// Names watches the names on which the protection of files depends. When one of them changes, the process is killed, and
	// Withdrawn says so. Nil: none are watched, and the layer of files says so if there are any.
	Names *namewatch.Watcher
	// Report is told how far the launch is: InstanceHandshaking once the process runs, InstanceWarming once it has said where it
	// listens. It must not block. Nil: nobody is told.
	Report func(state tool.InstanceState)
	// Conn bounds what the plugin may make the host hold.
	Conn pluginwire.ConnConfig
}

// NamespaceMode says whether a process gets a namespace of its own.
type NamespaceMode string

// The modes. The zero value is NamespaceAuto.
const (
	NamespaceAuto     NamespaceMode = "auto"     // where this machine gives one
	NamespaceOff      NamespaceMode = "off"      // never
	NamespaceRequired NamespaceMode = "required" // the launch fails without
	// NamespaceInstead is NamespaceAuto for a process that no control group of version 2 takes in from its start: because
	// there is none, or because the kernel, or what filters its calls, refuses. Any other has no need of one.
	NamespaceInstead NamespaceMode = "instead"
)

// checked returns the config with its defaults.
func (c Config) checked() (Config, error) {
	if c.Plugin == "" || c.Instance == "" {
		return c, errors.New("the plugin or the instance has no name")
	}
	if !filepath.IsAbs(c.Path) {
		return c, fmt.Errorf("the executable's path %q is not absolute", c.Path)
	}
	if err := checkEnv(c.Env); err != nil {
		return c, err
	}
	if err := checkRunDir(c.RunDir); err != nil {
		return c, err
	}
	if c.Dir != "" {
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return c, fmt.Errorf("looking for the folder to start in: %w", err)
		}
		c.Dir = dir
	}
	switch c.PIDNamespace {
	case "":
		c.PIDNamespace = NamespaceAuto
	case NamespaceAuto, NamespaceOff, NamespaceRequired, NamespaceInstead:
	default:
		return c, fmt.Errorf("the mode of the PID namespace is %q, not auto, off, required or instead", c.PIDNamespace)
	}
	if err := c.Limits.Check(); err != nil {
		return c, err
	}
	if c.StartTimeout <= 0 {
		c.StartTimeout = defaultStartTimeout
	}
	if c.StopTimeout <= 0 {
		c.StopTimeout = defaultStopTimeout
	}
	if c.Report == nil {
		c.Report = func(tool.InstanceState) {}
	}
	if c.Redact == nil {
		c.Redact = func(line string, _ bool) string { return line }
	}
	c.LineBytes = cmp.Or(c.LineBytes, maxLine)
	c.LinesPerSecond = cmp.Or(c.LinesPerSecond, 1000)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Args, c.Env = slices.Clone(c.Args), slices.Clone(c.Env)
	return c, nil
}

// sandboxed reports whether the process is to be behind layers.
func (c *Config) sandboxed() bool { return c.Sandbox.Mode != "" && c.Sandbox.Mode != sandbox.ModeOff }

func checkRunDir(dir string) error {
	// The kernel takes 108 bytes with the final zero on Linux, 104 on BSD and macOS; below RunDir come "/p" and ten
	// digits, "/plugin-dir" and ten, "/plugin" and ten.
	const longest = 104 - 1 - 12 - 21 - 17
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("the run folder's path %q is not absolute", dir)
	}
	if len(dir) > longest {
		return fmt.Errorf("the run folder's path %s has %d bytes; a unix socket in it needs at most %d: choose a shorter one", dir, len(dir), longest)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("looking at the run folder: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the run folder %s is %v; it must be a folder that is its owner's alone: chmod 700 it", dir, info.Mode())
	}
	return nil
}
