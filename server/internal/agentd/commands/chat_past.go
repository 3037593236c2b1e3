package commands

import (
	"context"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/markdown"
	"github.com/toolhost/toolhost/server/internal/terminal"
)

const (
	// pastEvents is how many of the newest events of a run a chat reads that goes on with it. A turn
	// has a few.
	pastEvents = 1000
	// pastMessages and pastLines bound what it shows of them: the turns of the last messages, and of
	// these the last lines.
	pastMessages = 3
	pastLines    = 40
)

// recall shows, in a terminal, the end of the conversation that goes on, and lets the person find
// its own messages with the keys of the history.
func (c *chat) recall(ctx context.Context) error {
	if c.text.block == nil || c.run.id == "" {
		return nil
	}
	last, from := c.run.after, uint64(0)
	if last > pastEvents {
		from = last - pastEvents
	}
	var events []client.RunEvent
	var messages []string
	begins := []int{0} // where the turns begin
	for e, err := range c.bench.WatchRun(ctx, c.run.id, from) {
		if err != nil {
			return err
		}
		if e.Seq > last {
			break
		}
		text := ""
		switch p := e.Payload.(type) {
		case *client.RunStarted:
			text = p.Prompt
		case *client.UserMessage:
			text = p.Text
		}
		if text != "" {
			messages, begins = append(messages, text), append(begins, len(events))
		}
		if e.Index == 0 { // the others are passing: a later event has what they say
			events = append(events, e)
		}
		if e.Seq == last {
			break
		}
	}
	c.console.Remember(messages)
	begin := begins[max(len(begins)-pastMessages, 0)]
	return c.showPast(events[begin:], begin > 0 || from > 0)
}

// showPast shows the last lines of what a display shows of events. more says that the run has
// earlier events.
func (c *chat) showPast(events []client.RunEvent, more bool) error {
	var shown strings.Builder
	d := newTextDisplay(c.setup.process)
	d.out, d.opens, d.asking, d.think = &shown, true, true, c.think
	d.block = &terminal.Block{Size: c.text.block.Size, Hidden: true} // no call runs
	if c.text.prose != nil {
		d.prose = &markdown.Stream{Screen: c.text.prose.Screen}
	}
	for _, e := range events {
		var err error
		switch p := e.Payload.(type) {
		case *client.RunStarted:
			err = d.ownText(p.Prompt, p.Attachments)
		case *client.UserMessage:
			err = d.ownText(p.Text, p.Attachments)
		default:
			err = d.show(e)
		}
		if err != nil {
			return err
		}
	}
	if err := d.endLine(); err != nil {
		return err
	}
	c.text.lastResult = d.lastResult
	lines := strings.SplitAfter(shown.String(), "\n")
	if cut := len(lines) - 1 - pastLines; cut > 0 { // there is an empty text behind the last line
		lines, more = lines[cut:], true
	}
	if more {
		shows := setup{file: c.setup.file, journal: c.setup.journal}
		if err := c.text.command(dim, "… `%s` shows what was before", shows.command("show", c.run.id, c.task.server)); err != nil {
			return err
		}
	}
	return c.text.put(strings.Join(lines, ""))
}

// ownText shows a message of the user as a story does.
func (d *textDisplay) ownText(text string, attached []client.AttachmentInfo) error {
	d.story = true
	err := d.userText(text, attached)
	d.story = false
	return err
}
