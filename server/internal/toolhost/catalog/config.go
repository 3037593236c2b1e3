package catalog

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// DescribeFunc starts the plugin briefly and asks it for its description. Path, Args, Env and Dir
// say how to run it. Info.Name is the expected name, so that the plugin runs with the settings that
// it will have. The name comes from its manifest, from its digest in the lock file, from the
// revision in its place now or earlier, or else from its file name. The other fields of p are not
// known yet. DescribeFunc must return when ctx ends.
type DescribeFunc func(ctx context.Context, p *Plugin) (tool.Description, error)

// Config says where plugins are and how to ask them for descriptions. Folders, StateDir and
// Describe are required.
type Config struct {
	Folders  []string // searched in this order; the first plugin or tool of a name wins
	StateDir string   // the folder for copies and decisions; made if it does not exist, and used by this catalog alone

	Describe        DescribeFunc
	DescribeTimeout time.Duration // bound for one plugin; 0: 10 s
	Parallel        int           // plugins that are read, or asked, at the same time; 0: 4

	Overrides Overrides // the operator's settings for tools, until Configure replaces them

	Trust    *trust.Store // the operator's trust records; nil: every plugin is trusted
	TrustNew bool         // plugins that arrive later, and changed declarations, are trusted too

	Locked   bool   // only plugins that LockFile pins run, even for asking
	LockFile string // a toolhost.lock; read at each Load if Locked
	// CheckLock returns an error if the content of LockFile may not be used, and Load then fails.
	// Nil allows any content.
	CheckLock func(path string, data []byte) error

	WatchInterval time.Duration // the time between two looks of Watch; 0: 1 s
	// Retention is how long an unused copy is kept for instances that still run it. Zero means 15
	// min, a negative value no time.
	Retention time.Duration

	MaxFolderBytes int64 // bound of a plugin folder that is copied; a larger one runs in place; 0: 200 MiB
	MaxFolderFiles int   // bound of a plugin folder that is copied; a larger one runs in place; 0: 20,000

	Logger *slog.Logger // nil: nothing is logged
}

func (c Config) withDefaults() Config {
	c.DescribeTimeout = cmp.Or(c.DescribeTimeout, 10*time.Second)
	c.Parallel = cmp.Or(c.Parallel, 4)
	c.WatchInterval = cmp.Or(c.WatchInterval, time.Second)
	c.Retention = cmp.Or(c.Retention, 15*time.Minute)
	c.MaxFolderBytes = cmp.Or(c.MaxFolderBytes, 200<<20)
	c.MaxFolderFiles = cmp.Or(c.MaxFolderFiles, 20_000)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
