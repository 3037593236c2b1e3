package author

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// devScreen is an output that several goroutines share. Each write and each line is whole.
type devScreen struct {
	mu     sync.Mutex
	w      io.Writer  // escapes what it writes
	out    io.Writer  // the same output, without escapes
	colors cli.Screen // of out
}

// colorOf returns the color of a line by what the line is about.
func colorOf(about string) cli.Color {
	switch about {
	case "failed":
		return cli.Red
	case "plugin":
		return cli.Green
	case "dev":
		return cli.Dim
	}
	return cli.Plain
}

// Write implements io.Writer for the build and the server.
func (s *devScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// say writes a line with the time and its subject.
func (s *devScreen) say(about, format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	about = s.colors.Paint(colorOf(about), fmt.Sprintf("%-7s", about))
	fmt.Fprintf(s.out, "%s  %s ", time.Now().Format(time.TimeOnly), about)
	fmt.Fprintf(s.w, "%s\n", text)
}

// introduce shows which plugin is in service. For a new plugin, it also shows how to call its tools
// from another terminal.
func (s *devSession) introduce(ctx context.Context, isNew bool) error {
	plugins, err := s.client.Admin().Plugins(ctx)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		s.screen.say("plugin", "%s is in service, %s", strings.TrimSpace(p.Name+" "+p.Version), cli.ShortDigest(p.Digest))
		for _, u := range p.Ungranted {
			s.screen.say("plugin", "asks for %s, which is not granted; in toolhost.yaml: %s", u.Request, u.Grant)
		}
		for _, w := range p.Warnings {
			s.screen.say("plugin", "note: %s", cli.OneLine(cli.ShortenDigests(w)))
		}
	}
	if !isNew {
		return nil
	}
	tools, err := s.client.ListTools(ctx, tool.Query{})
	if err != nil {
		return err
	}
	for _, t := range tools {
		arguments := "{}"
		if examples := t.Spec.InputExamples; len(examples) > 0 {
			arguments = string(examples[0].Arguments)
		}
		s.screen.say("try", "toolhost call --addr %s %s '%s'", s.client.Addr(), t.Spec.Name, strings.ReplaceAll(arguments, "'", `'\''`))
	}
	return nil
}

// followEvents shows the events of the plugin and its processes. It shows the process ids, to which
// a debugger can attach.
func (s *devSession) followEvents(ctx context.Context, c *client.Client) {
	for e, err := range c.Admin().WatchEvents(ctx, tool.EventQuery{Follow: true}) {
		if err != nil {
			return // toolhost has stopped, which another goroutine reports
		}
		switch lifecycle.EventType(e.Type) {
		case lifecycle.EventReady:
			s.sayReady(ctx, c, e)
		case lifecycle.EventLaunching, lifecycle.EventDraining, lifecycle.EventStopping, lifecycle.EventAdded,
			lifecycle.EventUpgrading, lifecycle.EventUpgraded, lifecycle.EventUpgradeFailed, lifecycle.EventUnusable:
			// The default case ignores the other events: they report the end of these states, or
			// the output of the build shows the same.
		default:
			text := strings.ReplaceAll(e.Type, "_", " ")
			if e.Reason != "" {
				text += ": " + cli.ShortenDigests(e.Reason)
			}
			s.screen.say("process", "%s: %s", cmp.Or(e.Instance, e.Plugin), cli.OneLine(text))
		}
	}
}

func (s *devSession) sayReady(ctx context.Context, c *client.Client, e tool.PluginEvent) {
	instances, err := c.Admin().Instances(ctx, e.Plugin)
	if err != nil {
		return
	}
	for _, i := range instances {
		if i.ID == e.Instance {
			s.screen.say("process", "%s runs with process id %d; sandbox: %s", i.ID, i.PID, operate.SandboxSummary(i.Sandbox))
			if s.wait {
				s.screen.say("process", "to debug it: dlv attach %d", i.PID)
			}
		}
	}
}

func (s *devSession) followLogs(ctx context.Context, c *client.Client) {
	for l, err := range c.Admin().TailLogs(ctx, tool.LogQuery{Follow: true}) {
		if err != nil {
			return // toolhost has stopped, which another goroutine reports
		}
		s.screen.say("log", "%s", operate.LogText(l))
	}
}
