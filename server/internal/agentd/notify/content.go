package notify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	maxName      = 100 // characters of a name that a model, a tool or a caller chose
	maxArguments = 800 // characters of arguments, of a question, and of what a target answers
	// maxForeign is how many bytes of a foreign text are looked at.
	maxForeign = 16 << 10
	// maxLines is the number of bytes of the lines of a message: of those that ask for text, Discord
	// takes the least, 2000 characters, and ntfy makes a file of more than 4096 bytes.
	maxLines = 1600
)

// Content is a message. Foreign texts in it are safe to show: they are one line each, bounded, and
// have escapes for characters that hide something.
type Content struct {
	ID   string
	Kind Kind
	Time time.Time // of the event

	Tenant, Run, Decision string
	Agent, For            string // the name of the agent; the key of the principal
	Asks                  loop.DecisionKind
	Tool, Rule            string
	Expires               time.Time // zero: never
	Left                  time.Duration
	StopReason            loop.StopReason
	Budget                loop.Budget
	Used, Limit           float64
	// Arguments are the arguments of the call, or the text of the question. Empty unless a route says
	// so.
	Arguments string
	// Link leads to a page that only shows the decision or the run. Empty if there are no pages; then
	// Command shows it.
	Link, Command string
}

// clean returns a foreign text as a terminal shows it, in one line of at most some characters.
func clean(text string, most int) string {
	cut := false
	if len(text) > maxForeign {
		text, cut = text[:maxForeign], true
	}
	runes := []rune(cli.CountBlanks(cli.OneLine(text)))
	if len(runes) > most {
		runes, cut = runes[:most], true
	}
	if cut {
		return string(runes) + " …"
	}
	return string(runes)
}

// place sets the link and the command, which have the whole id of the run. base is the address of
// the pages.
func (c *Content) place(base, run, decision string) {
	what, name := "runs", run
	c.Command = "agentd show " + run
	if decision != "" {
		what, name = "decisions", run+"/"+decision
		c.Command = "agentd inbox " + name
	}
	if base != "" {
		c.Link = strings.TrimSuffix(base, "/") + "/" + what + "/" + (&url.URL{Path: name}).EscapedPath()
	}
}

var asks = map[loop.DecisionKind]string{
	loop.DecideApproval: "a call waits for an approval", loop.DecideQuestion: "a run asks a question", loop.DecideOutcome: "the outcome of a call is unknown",
	loop.DecidePause: "a run is stuck", loop.DecideTool: "a tool asks a question",
}

// Title returns what happened, in words of agentd alone.
func (c *Content) Title() string {
	asked := cmp.Or(asks[c.Asks], "a run waits for a decision")
	switch c.Kind {
	case Waiting:
		return "agentd: " + asked
	case Reminder:
		return "agentd, still: " + asked
	case Ending:
		return fmt.Sprintf("agentd, %s left: %s", remaining(c.Left), asked)
	case Failed:
		return "agentd: a run failed"
	case Finished:
		return "agentd: a run finished"
	case Unknown:
		return "agentd: the outcome of a call is unknown"
	case Budget:
		return "agentd: a run has used 80 % of a budget"
	}
	return "agentd: a test message"
}

// line is a line of a message: a word of agentd, and a value, which is foreign unless it is own.
type line struct {
	name, value string
	own         bool
}

// lines returns what the message says besides its title.
func (c *Content) lines() []line {
	all := []line{
		{"tool", c.Tool, false}, {"agent", c.Agent, false}, {"for", c.For, false}, {"tenant", c.Tenant, false}, {"run", c.Run, false},
		{"decision", c.Decision, false}, {"rule", c.Rule, false}, {"stopped", string(c.StopReason), true},
	}
	if c.Budget != "" {
		all = append(all, line{"budget", fmt.Sprintf("%s: %.6g of %.6g", c.Budget, c.Used, c.Limit), true})
	}
	if !c.Expires.IsZero() {
		all = append(all, line{"time left", fmt.Sprintf("%s, until %s%s", remaining(c.Left), c.Expires.UTC().Format("2006-01-02 15:04 UTC"), c.atEnd()), true})
	}
	all = append(all, line{"says", c.Arguments, false})
	kept := all[:0]
	for _, l := range all {
		if l.value != "" {
			kept = append(kept, l)
		}
	}
	return kept
}

// shown returns the value with nothing in it that becomes a link.
func (l *line) shown() string {
	if l.own {
		return l.value
	}
	return broken(l.value)
}

// text returns the lines, with values as a target shows them. A value for which there is no room is
// left out, so that nothing that a tool writes keeps a message from being accepted.
func (c *Content) text(show func(string) string) string {
	var b strings.Builder
	for _, l := range c.lines() {
		value := show(l.shown())
		if b.Len()+len(value) > maxLines {
			value = "…"
		}
		fmt.Fprintf(&b, "%s: %s\n", l.name, value)
	}
	return b.String()
}

// atEnd says that the end of what waits is a No. The end of a question is that nobody answered.
func (c *Content) atEnd() string {
	if c.Asks == loop.DecideApproval || c.Asks == loop.DecidePause {
		return "; then it is a No"
	}
	return ""
}

// remaining returns a duration as people say it.
func remaining(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// Text returns the message as plain text for people. Programs make links and mentions of what looks
// like one, so foreign texts have them broken, as in evil[.]example.
func (c *Content) Text() string {
	return c.text(func(value string) string { return value }) + cmp.Or(c.Link, c.Command)
}

var linking = regexp.MustCompile(`://|@|([\pL\pN])\.([\pL\pN])`)

// broken returns a text without what programs take for links, addresses and mentions.
func broken(text string) string {
	for range 2 { // a match takes the character that the next one needs
		text = linking.ReplaceAllStringFunc(text, func(s string) string {
			switch s {
			case "://":
				return "[:]//"
			case "@":
				return "＠"
			}
			return strings.Replace(s, ".", "[.]", 1)
		})
	}
	return text
}

// types are the names of kinds for programs.
var types = map[Kind]string{
	Waiting: "decision.waiting", Ending: "decision.ending", Reminder: "decision.reminder", Failed: "run.failed", Finished: "run.finished", Unknown: "run.outcome_unknown", Budget: "run.budget",
}

// JSON returns the message for programs: a type, a time and data, as Standard Webhooks proposes.
func (c *Content) JSON() []byte {
	type data struct {
		ID         string          `json:"id"`
		Title      string          `json:"title"`
		Text       string          `json:"text"`
		Tenant     string          `json:"tenant,omitempty"`
		Run        string          `json:"run,omitempty"`
		Decision   string          `json:"decision,omitempty"`
		Asks       string          `json:"decision_kind,omitempty"`
		Agent      string          `json:"agent,omitempty"`
		For        string          `json:"principal,omitempty"`
		Tool       string          `json:"tool,omitempty"`
		Rule       string          `json:"rule,omitempty"`
		Expires    time.Time       `json:"expire_time,omitzero"`
		StopReason loop.StopReason `json:"stop_reason,omitempty"`
		Budget     loop.Budget     `json:"budget,omitempty"`
		Used       float64         `json:"used,omitempty"`
		Limit      float64         `json:"limit,omitempty"`
		Says       string          `json:"says,omitempty"`
		Link       string          `json:"link,omitempty"`
		Command    string          `json:"command,omitempty"`
	}
	text, _ := json.Marshal(struct { // it has no value that JSON does not have
		Type string    `json:"type"`
		Time time.Time `json:"timestamp"`
		Data data      `json:"data"`
	}{cmp.Or(types[c.Kind], "test"), c.Time.UTC(), data{
		c.ID, c.Title(), c.Text(), c.Tenant, c.Run, c.Decision, string(c.Asks), c.Agent, c.For, c.Tool, c.Rule, c.Expires, c.StopReason, c.Budget, c.Used, c.Limit, c.Arguments, c.Link, c.Command,
	}})
	return text
}
