package process

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/namewatch"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

const (
	defaultStartTimeout = 30 * time.Second
	defaultStopTimeout  = 5 * time.Second
)

// Config describes a process to launch.
type Config struct {
	// Plugin and Instance name the process in logs and errors. Required.
	Plugin, Instance string
	// Tenant names, in logs, the tenant whose calls the process gets. Empty means that logs name none.
	Tenant string
	// Path is the executable's absolute path. Required.
	Path string
	// Args are the program's arguments, without its name.
	Args []string
	// Env is added to the variables that every plugin gets: PATH, LANG, LC_ALL and TZ of toolhost,
	// and HOME and TMPDIR, which name the process's own folder. An entry replaces the one of the
	// same name. PLUGIN_… and TOOLHOST_INSTANCE are refused. Nothing else of toolhost's environment
	// reaches a plugin.
	Env []string
	// Dir is the process's working folder. Empty means its temporary folder.
	Dir string
	// RunDir is the folder in which the process gets its own folder, for its socket and temporary
	// files. That folder is removed after the process has ended. RunDir must exist and be closed to
	// other users (mode 0700). Its path must be short, because the path of a socket has at most
	// about 100 bytes. Required.
	RunDir string
	// StartTimeout bounds the launch, from the start to the first answer. Zero means 30 s.
	StartTimeout time.Duration
	// StopTimeout bounds each step of Stop after the first. Zero means 5 s.
	StopTimeout time.Duration
	// Logger gets the lines that the process prints, with plugin, instance and pid. It may be slow,
	// but its handler must not block forever. Nil means that nothing is logged.
	Logger *slog.Logger
	// LineBytes bounds a kept line, in bytes. Zero means 8 KiB.
	LineBytes int
	// LinesPerSecond bounds the logged lines of standard error, per second and at once. Further
	// lines are counted. Zero means 1,000.
	LinesPerSecond int
	// Redact returns a printed line, or a part of one, in the form in which it may be shown and
	// kept. headless says that the beginning of the line is missing, cut that its end is missing.
	// It must not block. Nil leaves lines unchanged.
	Redact func(line string, headless, cut bool) string
	// Reaper learns the process's group while the process runs. The process's mark begins with its
	// token. Nil means no reaper.
	Reaper *reaper.Handle
	// Limits bounds the process and all that it starts. The zero value sets no limit.
	Limits limits.Config
	// Cgroups makes the process's control groups. They enforce some limits, and find all processes
	// that the process started. Nil means that limits are enforced by other means, as far as
	// possible.
	Cgroups *limits.Cgroups
	// PIDNamespace says whether the process gets a PID namespace, with which everything it started
	// dies.
	PIDNamespace NamespaceMode
	// Sandbox is what the process may access besides its program, its own folders, and the folder
	// that Dir names, which it may read. The zero value is no sandbox: the process may access what
	// toolhost may.
	Sandbox sandbox.Config
	// Names watches the names on which the protection of files depends. When one of them changes,
	// the process is killed, and Withdrawn says so. Nil means that no names are watched, and the
	// layer `files` notes that.
	Names *namewatch.Watcher
	// Report receives the progress of the launch: InstanceHandshaking when the process runs,
	// InstanceWarming when it has named its socket. It must not block. Nil means no reports.
	Report func(state tool.InstanceState)
	// Carried is called with Tenant after each pace.Piece that the plugin has sent in large results,
	// before more is read from the plugin. It may block for a short time, so that work for other
	// tenants comes first. Nil means that nothing is called.
	Carried func(tenant string)
	// Conn bounds the memory that the plugin can make the host use.
	Conn pluginwire.ConnConfig
	// Pipes opens a session with a process that communicates over its standard input and output. Nil
	// means that the process serves the plugin contract with go-plugin.
	Pipes PipesFunc
}

// NamespaceMode says whether a process gets a PID namespace.
type NamespaceMode string

// The modes. The zero value is NamespaceAuto.
const (
	NamespaceAuto     NamespaceMode = "auto"     // if this machine can make one
	NamespaceOff      NamespaceMode = "off"      // never
	NamespaceRequired NamespaceMode = "required" // the launch fails without one
	// NamespaceInstead is NamespaceAuto for a process that no control group of version 2 takes in
	// at its start, because there is none or because the kernel or a filter refuses. Other
	// processes do not need a namespace.
	NamespaceInstead NamespaceMode = "instead"
)

// checked returns the config with its defaults, or what is wrong with it.
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
	if c.Carried == nil {
		c.Carried = func(string) {}
	}
	if c.Redact == nil {
		c.Redact = func(line string, _, _ bool) string { return line }
	}
	c.LineBytes = cmp.Or(c.LineBytes, maxLine)
	c.LinesPerSecond = cmp.Or(c.LinesPerSecond, 1000)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Args, c.Env = slices.Clone(c.Args), slices.Clone(c.Env)
	return c, nil
}

// StartsLike reports whether two Configs start the same program with the same environment, limits
// and sandbox. A process of one can then stand for a process of the other.
func (c Config) StartsLike(other Config) bool {
	return c.Reaper == other.Reaper && c.Cgroups == other.Cgroups && (c.Pipes == nil) == (other.Pipes == nil) && reflect.DeepEqual(c.lasting(), other.lasting())
}

// lasting returns the fields of a Config that a process keeps for its life, as far as they can be
// compared.
func (c Config) lasting() Config {
	c.Instance, c.Tenant, c.StartTimeout, c.Report, c.Redact, c.Carried = "", "", 0, nil, nil, nil
	c.Logger, c.Reaper, c.Cgroups, c.Names, c.Pipes = nil, nil, nil, nil, nil
	return c
}

// sandboxed reports whether the process gets a sandbox.
func (c *Config) sandboxed() bool { return c.Sandbox.Mode != "" && c.Sandbox.Mode != sandbox.ModeOff }

func checkRunDir(dir string) error {
	// The kernel takes 108 bytes with the final zero on Linux, and 104 on BSD and macOS. Below
	// RunDir come "/p" and ten digits, "/plugin-dir" and ten, "/plugin" and ten.
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
