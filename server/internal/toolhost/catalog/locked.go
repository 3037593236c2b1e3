package catalog

import (
	"fmt"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

// refusal returns the reason why the lock file does not allow a plugin. It is empty if the lock
// file allows it. current is the revision in service at the same place, or nil. If the plugin must
// not be asked for its name, refusal uses current's.
func refusal(pins manifest.Lock, p, current *Plugin) string {
	if pins == nil {
		return ""
	}
	name := p.Info.Name
	if current != nil && p.knownName() == "" {
		name = current.Info.Name
	}
	pin, found := pins[name]
	switch {
	case !p.Pinned:
		return "it is too large to be copied, so that what runs could be another than what was checked: it cannot be run with --locked"
	case found && pin.Digest == p.Digest, pins.Has(p.Digest) && !p.usable():
		return ""
	case found:
		return fmt.Sprintf("the lock file allows %s, but %s is %s; if that change is wanted, run `toolhost lock %s`",
			pin.Digest, p.Source, p.Digest, name)
	default:
		return fmt.Sprintf("the lock file does not know %s; %s is %s; if it is wanted, run `toolhost lock %s`", name, p.Source, p.Digest, name)
	}
}

// knownName returns the name of the plugin's description; empty if it was not asked.
func (p *Plugin) knownName() string {
	switch {
	case p.usable():
		return p.Info.Name
	case p.Manifest != nil:
		return p.Manifest.Name
	}
	return ""
}

// LockFile returns the path of the lock file, and whether it is used.
func (c *Catalog) LockFile() (path string, enforced bool) { return c.cfg.LockFile, c.cfg.Locked }

// allowed reports whether the lock file allows a digest.
func allowed(pins manifest.Lock, digest string) bool { return pins == nil || pins.Has(digest) }

// Pins returns a lock of the plugins in service.
func (s *Snapshot) Pins() manifest.Lock {
	lock := manifest.Lock{}
	for name, p := range s.ordered().byName {
		lock[name] = manifest.Pin{Version: p.Info.Version, Digest: p.Digest}
	}
	return lock
}

// WriteLock writes a lock file that allows exactly the plugins in service in the snapshot.
func WriteLock(path string, s *Snapshot) error { return manifest.WriteLock(path, s.Pins()) }
