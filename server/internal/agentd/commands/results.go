package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/text/jsontext"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// result shows the result of a call in one line. A story has the whole result below it. A chat says
// how to open a result that one line does not hold.
func (d *textDisplay) result(e client.RunEvent, p *client.CallResult) error {
	card := d.card(p.CallID, p.Tool)
	d.forget(p.CallID)
	head, shade := d.resultHead(e, p, card)
	text, facts := cli.Shown(&p.Result)
	short := cli.OneLine(cli.Clip(text, resultWidth))
	cut := short != cli.OneLine(strings.TrimSpace(text))
	if p.Result.IsError && facts != "" { // the reason may be among the facts
		clipped := cli.OneLine(cli.Clip(facts, resultWidth))
		short, cut = short+" ["+clipped+"]", cut || clipped != cli.OneLine(facts)
	}
	if d.opens {
		d.lastResult = e.Seq
	}
	whole := d.story && cut
	if whole {
		short = ""
	}
	var edit []shownLine
	if d.block != nil && d.opens && !card.asked && !p.Result.IsError {
		edit = shownEdit(card.arguments)
	}
	if edit != nil {
		card.arguments = "" // they follow
	}
	err := d.resultLine(e, card, head, short, shade, cut)
	for i := 0; i < len(edit) && err == nil; i++ {
		err = d.line(edit[i].shade, "%s", edit[i].text)
	}
	if err != nil || !whole {
		return err
	}
	return d.wholeResult(p)
}

// resultHead returns the beginning of the line of a result, without the arguments: the mark and the
// name, and how the call went.
func (d *textDisplay) resultHead(e client.RunEvent, p *client.CallResult, card *callCard) (head [2]string, shade string) {
	mark, shade, took := "✓", green, ""
	if p.Result.IsError {
		mark, shade, took = "✗", red, " (not made)"
	}
	if !card.begun.IsZero() {
		took = " (" + duration(e.Time.Sub(card.begun)) + ")"
	}
	switch id := standingOf(&p.Result); {
	case id == "":
	case d.block != nil && d.opens: // the result is worth the room, and `agentd show` has the id
		took += " (standing approval)"
	default:
		took += " (allowed by the standing approval " + cli.Clip(cli.OneLine(id), resultWidth) + ")"
	}
	took += settledWords(p.Settled)
	return [2]string{mark + " " + cli.Clip(cli.OneLine(p.Tool), argumentsWidth), took}, shade
}

// settledWords says what the tool said about a call whose outcome was unknown.
func settledWords(s *tool.Settlement) string {
	switch {
	case s == nil:
		return ""
	case s.Verdict == tool.VerdictHappened:
		return " (settled: it had happened)"
	case s.Verdict == tool.VerdictDidNotHappen:
		return " (settled: it had not happened, and was made again)"
	default:
		return " (the tool was asked and does not know)"
	}
}

// resultLine shows the line of a result. In a terminal it replaces the line of the running call, so
// it also shows the arguments.
func (d *textDisplay) resultLine(e client.RunEvent, card *callCard, head [2]string, text, shade string, cut bool) error {
	if d.block == nil {
		return d.line(shade, "%s%s %s", head[0], head[1], text)
	}
	wide, _ := d.block.Size()
	arguments := cli.Clip(cli.OneLine(briefly(card.arguments)), min(argumentsWidth, max(wide/3, 1)))
	if arguments != "" {
		arguments = " " + arguments
	}
	line, hint, room := head[0]+arguments+head[1]+" "+text, "", wide-1
	if d.opens && (cut || cli.Clip(line, room) != line) {
		hint = fmt.Sprintf(" (/result %d)", e.Seq)
	}
	return d.line(shade, "%s%s", cli.Clip(line, max(room-len(hint), 1)), hint)
}

// briefly returns arguments for a line about a call that was made: a command, or the only argument,
// is easier to read than JSON.
func briefly(arguments string) string {
	members, ok := jsontext.Members([]byte(arguments))
	if !ok {
		return arguments
	}
	for _, m := range members {
		var text string
		command := m.Name == "command" || m.Name == "cmd"
		if (command || len(members) == 1) && json.Unmarshal(m.Value, &text) == nil && text != "" {
			if command {
				text = "$ " + text
			}
			return text
		}
	}
	return arguments
}

// wholeResult shows a result with all of its lines. A tool wrote them: each line has a mark that
// the text cannot leave, and no line reaches the terminal without escapes.
func (d *textDisplay) wholeResult(r *client.CallResult) error {
	text, facts := cli.Shown(&r.Result)
	if r.Answer != "" { // for the user, without what models are told
		text, facts = r.Answer, ""
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    ")
		if err := d.line("", "  │ %s", cli.OneLine(line)); err != nil {
			return err
		}
	}
	if facts == "" {
		return nil
	}
	return d.line(dim, "  [%s]", cli.OneLine(facts))
}

// wholeArguments shows the arguments of a call, as a person reads them who decides about it.
func (d *textDisplay) wholeArguments(name, arguments string) error {
	for i, line := range shownArguments(&client.PendingDecision{Tool: name, Arguments: json.RawMessage(arguments)}) {
		text := line.text
		if i == 0 {
			text = "→ " + strings.TrimPrefix(text, "  ")
		}
		if err := d.line(dim, "%s", text); err != nil {
			return err
		}
	}
	return nil
}

// openResult shows a whole result of the conversation: that of the event with a number, or the last
// one.
func (c *chat) openResult(ctx context.Context, word string) error {
	seq, err := strconv.ParseUint(strings.TrimSpace(word), 10, 64)
	switch {
	case strings.TrimSpace(word) == "":
		if seq = c.text.lastResult; seq == 0 {
			return c.text.line(yellow, "no call of this chat has a result yet; /result N shows the one with the number N")
		}
	case err != nil || seq == 0:
		return c.text.line(yellow, "/result takes the number that stands behind a result, such as /result 7")
	}
	if c.run.id != "" && seq <= c.run.after {
		for e, err := range c.bench.WatchRun(ctx, c.run.id, seq-1) {
			if err != nil {
				return c.text.line(yellow, "the result cannot be read: %v", err)
			}
			if e.Seq < seq {
				continue
			}
			if r, ok := e.Payload.(*client.CallResult); ok && e.Seq == seq {
				if err := c.text.line(dim, "result %d of %s:", seq, cli.OneLine(r.Tool)); err != nil {
					return err
				}
				return c.text.wholeResult(r)
			}
			break
		}
	}
	return c.text.line(yellow, "the event %d of this conversation is no result", seq)
}
