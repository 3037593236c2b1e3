package catalog

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/manifest"
)

// refusal says why the lock file does not allow a plugin; empty if it does. Current is what is in service in its place,
// if anything is: its name is that of a plugin that may not even be asked for it.
func refusal(pins manifest.Lock, p, current *Plugin) string {
	if pins == nil {
		return ""
	}
	name := p.Info.Name
	if current != nil && !p.usable() {
		name = current.Info.Name
	}
	pin, found := pins[name]
	switch {
	case !p.Pinned:
		return "it is too large to be copied, so that what runs could be another than what was checked: it cannot be run with --locked"
	case found && pin.Digest == p.Digest, pins.Has(p.Digest) && !p.usable():
		return ""
	case found:
		return fmt.Sprintf("%s: the lock file allows %s, but %s is %s; if that change is wanted, start toolhost without --locked and run `toolhost lock`",
			name, pin.Digest, p.Source, p.Digest)
	default:
		return fmt.Sprintf("%s: the lock file does not know it; %s is %s; if it is wanted, start toolhost without --locked and run `toolhost lock`", name, p.Source, p.Digest)
	}
}

// allowed reports whether the lock file lets a digest run.
func allowed(pins manifest.Lock, digest string) bool { return pins == nil || pins.Has(digest) }

// Pins returns the lock of what is in service.
func (s *Snapshot) Pins() manifest.Lock {
	lock := manifest.Lock{}
	for name, p := range s.ordered().byName {
		lock[name] = manifest.Pin{Version: p.Info.Version, Digest: p.Digest}
	}
	return lock
}

// WriteLock writes a lock file that allows what is in service in the snapshot, and nothing else.
func WriteLock(path string, s *Snapshot) error { return manifest.WriteLock(path, s.Pins()) }
