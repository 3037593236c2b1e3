package supervisor

import (
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
)

// logFound logs what the catalog has when the host starts: plugins that cannot be used, with the
// reason.
func (u *Upgrades) logFound(found *catalog.Snapshot) {
	for _, p := range found.Plugins() {
		switch {
		case p.Problem != "":
			u.logUnusable(p)
		case p.Refusal != (catalog.Refusal{}):
			u.logRefusal(p)
		default:
			u.cfg.Logger.Debug("plugin in service", "plugin", p.Info.Name, "version", p.Info.Version, "digest", p.Digest, "tools", len(p.Tools), "source", p.Source)
		}
	}
}

// logUnusable logs why a plugin is not in service.
func (u *Upgrades) logUnusable(p *catalog.Plugin) {
	words := "plugin cannot be used"
	switch {
	case p.Pending(): // package catalog logs how long the answer took
		return
	case p.Untrusted:
		words = "plugin waits for trust"
	}
	u.cfg.Logger.Warn(words, "plugin", p.Info.Name, "digest", p.Digest, "source", p.Source, "reason", p.Problem)
}

// notStarted begins the reason of a refusal that followed from a takeover. bringIn has logged it.
const notStarted = "the new executable did not start: "

// logRefusal logs why the file of a plugin does not replace the revision in service.
func (u *Upgrades) logRefusal(p *catalog.Plugin) {
	if !strings.HasPrefix(p.Refusal.Reason, notStarted) {
		u.cfg.Logger.Warn("upgrade refused", "plugin", p.Info.Name, "digest", p.Refusal.Digest, "source", p.Source, "reason", p.Refusal.Reason)
	}
}

// logAdded logs a plugin that came into service.
func (u *Upgrades) logAdded(p *catalog.Plugin) {
	u.cfg.Logger.Info("plugin added", "plugin", p.Info.Name, "version", p.Info.Version, "digest", p.Digest, "tools", len(p.Tools), "source", p.Source)
}

// logWarnings logs each warning of a plugin in now that the plugin did not have in before, such as
// the reason why toolhost omits one of its tools. A nil before is an empty snapshot. It leaves out
// the warning about a changed file, because an upgrade and a refusal have records.
func (u *Upgrades) logWarnings(before, now *catalog.Snapshot) {
	for _, p := range now.Plugins() {
		known := []string{p.FileWarning}
		if before != nil {
			if old := before.Plugin(p.Info.Name); old != nil {
				known = append(known, old.Warnings...)
			}
		}
		for _, warning := range p.Warnings {
			if !slices.Contains(known, warning) {
				u.cfg.Logger.Warn("plugin warning", "plugin", p.Info.Name, "source", p.Source, "warning", warning)
			}
		}
	}
}
