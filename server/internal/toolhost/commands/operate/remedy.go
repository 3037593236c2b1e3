package operate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// remedy is an action of an operator that helps a plugin.
type remedy struct {
	Command string `json:"command,omitempty"` // empty if there is no command
	// continues the sentence that Command begins, such as "lets it take calls again"
	Effect string `json:"effect"`
}

// remedies returns what an operator can do about a plugin, the most useful action first. It returns
// at least one.
func remedies(p tool.PluginInfo, instances []tool.InstanceInfo) []remedy {
	command := func(verb, effect string) remedy { return remedy{"toolhost " + verb + " " + p.Name, effect} }
	var all []remedy
	switch p.State {
	case tool.PluginPaused:
		all = append(all, command("resume", "lets it take calls again"))
	case tool.PluginBackingOff:
		all = append(all, command("clear", "lets the next call start it at once"), command("logs", "shows what it wrote"))
	case tool.PluginQuarantined:
		all = append(all, command("clear", "lets it take calls again: the next one starts it"), command("logs", "shows what it wrote"))
	case tool.PluginDisabled:
		all = append(all, remedy{"", "change the configuration, and start toolhost again"})
	case tool.PluginUnusable:
		if !LockedOut(p) {
			all = append(all, remedy{"", "correct what the reason says, then"}, remedy{"toolhost reload", "looks at the plugin folders again"})
		}
	default:
		all = append(all, healthyRemedies(p, command)...)
	}
	switch {
	case LockedOut(p):
		all = append(all, remedy{lockCommand(p), "allows what is in its folder, " + cli.ShortDigest(p.Refusal.Digest) + ", and puts it into service"})
	case len(p.Warnings) > 0 && !p.State.Off():
		all = append(all, command("upgrade", "reads its file again; correct first what the warnings report"))
	}
	if p.PreviousDigest != "" && (p.State == tool.PluginBackingOff || p.State == tool.PluginQuarantined || lastCrash(p) != nil) {
		all = append(all, command("rollback", "goes back to the executable before, "+cli.ShortDigest(p.PreviousDigest)))
	}
	for _, i := range instances {
		if i.State == tool.InstanceUnhealthy {
			all = append(all, command("restart --force", "replaces "+i.ID+", which does not answer, at once"))
			break
		}
	}
	return all
}

// LockedOut reports whether the lock file refuses the file in the plugin's folder.
func LockedOut(p tool.PluginInfo) bool { return p.Refusal != nil && p.Refusal.Locked }

// lockCommand returns the command that allows a refused plugin.
func lockCommand(p tool.PluginInfo) string { return "toolhost lock " + cmp.Or(p.Refusal.Name, p.Name) }

func healthyRemedies(p tool.PluginInfo, command func(verb, effect string) remedy) []remedy {
	switch {
	case p.Reason != "":
		return []remedy{command("clear", "lets it take these calls again"), command("logs", "shows what it wrote")}
	case crash(p) != nil && p.Instances == 0:
		return []remedy{
			{"", "nothing has to be done: it takes calls, and the next one starts it"},
			command("logs", "shows what it wrote"), command("restart", "starts it now"),
		}
	case crash(p) != nil:
		return []remedy{{"", "nothing has to be done: it takes calls"}, command("logs", "shows what it wrote")}
	case p.Instances == 0:
		return []remedy{{"", "nothing has to be done: it takes calls, and the next one starts it"}}
	default:
		return []remedy{{"", "nothing has to be done: it takes calls"}}
	}
}

// crash returns the newest exit that toolhost did not request, or nil if the plugin's kept exits
// have none.
func crash(p tool.PluginInfo) *tool.PluginExit {
	for i := range p.RecentExits {
		if !p.RecentExits[i].Expected {
			return &p.RecentExits[i]
		}
	}
	return nil
}

// lastCrash returns the newest exit if it is a crash, and nil otherwise.
func lastCrash(p tool.PluginInfo) *tool.PluginExit {
	if len(p.RecentExits) == 0 || p.RecentExits[0].Expected {
		return nil
	}
	return &p.RecentExits[0]
}

// ago returns the time between t and now, such as "5s ago".
func ago(t, now time.Time) string { return cli.Age(now.Sub(t)) + " ago" }

// retry returns when toolhost starts a plugin again. It returns "" if that does not depend on time.
func retry(p tool.PluginInfo, now time.Time) string {
	if p.RetryTime.IsZero() {
		return ""
	}
	if !p.RetryTime.After(now) {
		return "now"
	}
	wait := p.RetryTime.Sub(now)
	if wait < time.Second {
		return fmt.Sprintf("in %dms", wait.Milliseconds())
	}
	return "in " + cli.Age(wait)
}

// clock returns a time in the user's time zone.
func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05.000")
}
