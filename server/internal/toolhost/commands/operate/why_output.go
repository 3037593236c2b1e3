package operate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// stderrOfWhy is the number of lines of the last crash that `why` shows. -o json and `logs` show
// more.
const stderrOfWhy = 12

// write writes the explanation. It colors the state in the first line.
func (w *explanation) write(p cli.Process) error {
	text, state := w.text(), stateWords(w.plugin.State)
	if head := w.title(); p.Screen().Color && strings.HasPrefix(text, head+state) {
		painted := p.Screen().Paint(cli.StateColor(state), cli.OneLine(state))
		if _, err := io.WriteString(p.Stdout, cli.Visible(head)+painted); err != nil {
			return err
		}
		text = text[len(head)+len(state):]
	}
	_, err := io.WriteString(p.Out(), text)
	return err
}

// title returns the first words of the explanation, up to the state.
func (w *explanation) title() string {
	return cli.OneLine(strings.TrimSpace(w.plugin.Name+" "+w.plugin.Version) + " is ")
}

// text returns the explanation for people: first the state, last what to do.
func (w *explanation) text() string {
	var b strings.Builder
	w.writeState(&b)
	w.writeRequests(&b)
	w.writeExits(&b)
	if len(w.plugin.Warnings) > 0 {
		b.WriteString("\nwarnings\n")
		for _, warning := range w.plugin.Warnings {
			fmt.Fprintf(&b, "  %s\n", cli.OneLine(cli.ShortenDigests(warning)))
		}
	}
	if len(w.events) > 0 {
		b.WriteString("\nlast events\n")
		for _, e := range w.events {
			fmt.Fprintf(&b, "  %s\n", eventText(e))
		}
	}
	b.WriteString("\nwhat to do\n")
	for _, r := range remedies(w.plugin, w.instances) {
		if r.Command == "" {
			fmt.Fprintf(&b, "  %s\n", r.Effect)
		} else {
			fmt.Fprintf(&b, "  %-32s  %s\n", r.Command, r.Effect)
		}
	}
	return b.String()
}

func (w *explanation) writeState(b *strings.Builder) {
	p := w.plugin
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %-11s %s\n", label, cli.OneLine(value))
		}
	}
	title := w.title() + stateWords(p.State)
	if p.Reason != "" {
		title += ": " + cli.ShortenDigests(p.Reason)
	}
	fmt.Fprintln(b, cli.OneLine(title))
	if next := retry(p, w.now); next != "" {
		line("next try", fmt.Sprintf("%s, at %s", next, clock(p.RetryTime)))
	}
	line("file", p.Path)
	line("digest", p.Digest)
	switch {
	case p.PinnedDigest != "" && p.PinnedDigest == p.Digest:
		line("lock file", "allows this digest")
	case p.PinnedDigest != "":
		line("lock file", "allows "+p.PinnedDigest)
	case LockedOut(p):
		line("lock file", "does not know it")
	}
	if r := p.Refusal; r != nil && r.Digest != p.Digest {
		line("its file is", r.Digest)
	}
	line("before it", p.PreviousDigest)
	line("filters", strings.Join(p.Filters, ", "))
	for _, f := range p.OwnFilters {
		line("own filter", fmt.Sprintf("%s, for calls of %s", f.Name, strings.Join(f.Tools, ", ")))
	}
	line("isolation", IsolationWords(p.Isolation))
	line("processes", fmt.Sprintf("%d now, %d started in all", p.Instances, p.Launches))
	for _, i := range w.instances {
		process := "no process"
		if i.PID != 0 {
			process = "pid " + strconv.Itoa(i.PID)
		}
		line("  "+i.ID, fmt.Sprintf("%s, started %s, %s, %s now, %s in all", i.State, ago(i.StartTime, w.now), process,
			cli.Count(i.Calls, "call"), number(i.TotalCalls)))
		if len(i.Limits) > 0 {
			line("    limits", limitDetails(i.Limits))
		}
		if i.Sandbox != nil {
			line("    sandbox", sandboxDetails(i.Sandbox))
		}
	}
}

// IsolationWords returns what an isolation mode means for callers.
func IsolationWords(isolation string) string {
	switch isolation {
	case "shared":
		return "shared: calls of all callers and sessions can meet in one process, and see each other's files, memory and secrets there"
	case "session":
		return "session: calls of one session share a process"
	case "call":
		return "call: each call has its own process"
	}
	return isolation
}

// stateWords returns a state as words of a sentence.
func stateWords(s tool.PluginState) string { return strings.ReplaceAll(string(s), "_", " ") }

func (w *explanation) writeExits(b *strings.Builder) {
	if len(w.plugin.RecentExits) == 0 {
		return
	}
	b.WriteString("\nlast exits, the newest first\n")
	telling := w.telling()
	for _, e := range w.plugin.RecentExits {
		what, doing := "crashed", "it was executing"
		switch {
		case e.Unhealthy:
			what, doing = "was unhealthy, and was stopped", "this call did not stop:"
		case e.Expected:
			what = "stopped"
		}
		fmt.Fprintf(b, "  %s  %s  %s %s: %s\n", clock(e.Time), ago(e.Time, w.now), cmp.Or(e.Instance, "a process of another tenant"), what, cli.OneLine(e.Exit.String()))
		for _, call := range e.Calls {
			fmt.Fprintf(b, "      %s %s, call %s of %s%s\n",
				doing, cli.OneLine(call.Tool), cli.OneLine(call.CallID), cli.OneLine(call.Principal), executingFor(call, e.Time))
		}
		if e.HiddenCalls > 0 {
			fmt.Fprintf(b, "      %s %s of other tenants\n", doing, cli.Count(e.HiddenCalls, "call"))
		}
		if slices.Contains(telling, e.Instance) {
			for _, l := range crashoutput.Excerpt(w.lastLines(&e), stderrOfWhy) {
				fmt.Fprintf(b, "      | %s\n", cli.OneLine(l))
			}
		}
	}
}

// telling returns the instances whose last words why shows: that of the newest crash, because
// earlier ones usually have the same cause. A process that something killed did not say why. So it
// is also the newest crash whose last words explain it.
func (w *explanation) telling() []string {
	var instances []string
	for _, e := range w.plugin.RecentExits {
		if e.Expected || e.Instance == "" {
			continue
		}
		explained := crashoutput.Explained(w.lastLines(&e))
		if len(instances) == 0 || explained {
			instances = append(instances, e.Instance)
		}
		if explained {
			break
		}
	}
	return instances
}

// lastLines returns the lines that a process wrote before it crashed. The exit keeps only the last
// ones. If these do not explain the crash, lastLines reads the log, which has more, such as the
// stacks of many threads.
func (w *explanation) lastLines(e *tool.PluginExit) []string {
	exit := e.Exit
	if !crashoutput.Explained(exit.LastStderr) {
		var logged tool.Exit
		for _, l := range w.lines {
			if l.Instance == e.Instance {
				logged.LastStderr = append(logged.LastStderr, strings.Split(l.Record.Message, "\n")...)
			}
		}
		if crashoutput.Explained(logged.LastStderr) {
			exit = logged
		}
	}
	return exit.LastStderr
}

// executingFor returns how long a call had been executed when its process crashed; empty if that is
// unknown.
func executingFor(call tool.ExitCall, crash time.Time) string {
	if call.StartTime.IsZero() {
		return ""
	}
	s := ", for " + short(max(crash.Sub(call.StartTime), time.Microsecond))
	if call.Session != "" {
		s += ", in session " + cli.OneLine(call.Session)
	}
	return s
}
