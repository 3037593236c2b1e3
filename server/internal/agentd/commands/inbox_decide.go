package commands

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// inboxVerdict is the verdict of the command line about one decision.
type inboxVerdict struct {
	approve, reject    bool
	edit, answer       string
	reason, etag, name string
}

func (v *inboxVerdict) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&v.approve, "approve", false, "approve the call, make a call with an unknown outcome once more, or let a run that got stuck go on")
	flags.StringVar(&v.edit, "edit", "", "approve the call with other arguments, a `JSON` object")
	flags.BoolVar(&v.reject, "reject", false, "reject the call, leave a question open, or end a run that got stuck")
	flags.StringVar(&v.answer, "answer", "", "answer with `TEXT`, or say how the call ended")
	flags.StringVar(&v.reason, "reason", "", "why, in `WORDS`, for --approve, --edit and --reject; a model reads why a call was rejected")
	flags.StringVar(&v.etag, "etag", "", "the `ETAG` of the decision as you have seen it; needed where there is no terminal to show it and ask")
	flags.StringVar(&v.name, "by", "", "`NAME` of the person who decides (default: $USER)")
	cmd.MarkFlagsMutuallyExclusive("approve", "edit", "reject", "answer")
}

// given returns the verdict of the flags, and whether there is one.
func (v *inboxVerdict) given(cmd *cobra.Command) (made client.Decision, given bool, err error) {
	changed := cmd.Flags().Changed
	switch {
	case v.approve:
		made = client.Decision{Verdict: client.Approve, Text: v.reason}
	case changed("edit"):
		made = client.Decision{Verdict: client.Approve, Text: v.reason, Arguments: json.RawMessage(v.edit)}
		if v.edit == "" {
			err = cli.Usage("--edit has no arguments")
		}
	case v.reject:
		made = client.Decision{Verdict: client.Reject, Text: v.reason}
	case changed("answer"):
		made = client.Decision{Verdict: client.Answer, Text: v.answer}
		if v.reason != "" {
			err = cli.Usage("an answer has no --reason; write it into the answer")
		}
	case v.reason != "" || v.etag != "":
		err = cli.Usage("say what is decided: --approve, --edit JSON, --reject or --answer TEXT")
	default:
		return made, false, nil
	}
	return made, err == nil, err
}

// decide makes the decision. Without the etag of what the person has seen, it shows the decision
// and asks.
func (v *inboxVerdict) decide(ctx context.Context, p cli.Process, a *client.AgentClient, name string, made client.Decision) error {
	etag := v.etag
	if etag == "" {
		if !cli.IsTerminal(p.Stdin) || !cli.IsTerminal(p.Stdout) {
			return cli.Usage("say what you have seen: --etag ETAG, which `agentd inbox %s` shows; nothing was decided", cli.OneLine(name))
		}
		d, err := a.InboxDecision(ctx, name)
		if err != nil {
			return err
		}
		if !d.Waiting {
			return showDecision(p, &d)
		}
		if len(made.Arguments) > 0 {
			if err := agent.CheckArguments(d.Schema, made.Arguments); err != nil {
				return err
			}
		}
		if err := confirmVerdict(ctx, p, &d, made); err != nil {
			return err
		}
		etag = d.Etag
	}
	return v.send(ctx, p, a, name, etag, made)
}

// send sends a verdict, and says what was decided.
func (v *inboxVerdict) send(ctx context.Context, p cli.Process, a *client.AgentClient, name, etag string, made client.Decision) error {
	by := v.name
	if by == "" {
		by = p.Getenv("USER")
	}
	d, err := a.Decide(ctx, client.DecideRequest{
		Name: name, Etag: etag, Verdict: made.Verdict, Text: made.Text, Arguments: made.Arguments, RequestID: rand.Text(), DecidedBy: by,
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out(), "%s: %s\n", cli.OneLine(d.Name), verdictWord(d.Made.Verdict))
	return err
}

// verdictWord returns what a person did who gave a verdict.
func verdictWord(v client.Verdict) string {
	return map[client.Verdict]string{client.Approve: "approved", client.Reject: "rejected", client.Answer: "answered"}[v]
}

// confirmVerdict shows a decision with the arguments that it would get, and asks.
func confirmVerdict(ctx context.Context, p cli.Process, d *client.InboxDecision, made client.Decision) error {
	shown := *d
	if len(made.Arguments) > 0 {
		shown.Arguments, shown.Diff = made.Arguments, "" // the diff is that of the other arguments
	}
	text := newTextDisplay(p)
	text.block = nil // no call is running
	if err := text.decision(shownPending(&shown), 1); err != nil {
		return err
	}
	if err := showLines(text, &shown, "  "+untilNo(&d.PendingDecision)); err != nil {
		return err
	}
	words := map[client.Verdict]string{client.Approve: "approve it", client.Reject: "reject it", client.Answer: "answer with " + cli.Clip(made.Text, promptWidth)}
	word, err := terminal.NewConsole(p).Answer(ctx.Done(), terminal.Question{Prompt: words[made.Verdict] + "? [y]es, or no: ", Decision: true})
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, terminal.ErrInterrupted) {
		return err
	}
	if word = strings.ToLower(strings.TrimSpace(word)); word != "y" && word != "yes" {
		return cli.Usage("nothing was decided about %s", cli.OneLine(d.Name))
	}
	return nil
}

// askInbox asks a person at a terminal for a decision, as the terminal of the run does. It returns
// errLeft if the person decides nothing.
func askInbox(ctx context.Context, p cli.Process, d *client.InboxDecision) (client.Decision, error) {
	people := newInterview(p, terminal.NewConsole(p), newTextDisplay(p))
	defer people.editor.end()
	people.show.block = nil // no call is running
	people.expect([]client.PendingDecision{*shownPending(d)})
	people.held = isHeld(d)
	if err := showLines(people.show, d, "  "+untilNo(&d.PendingDecision)); err != nil {
		return client.Decision{}, err
	}
	for {
		if err := people.ask(); err != nil {
			return client.Decision{}, err
		}
		made, err := people.next(ctx)
		if !errors.Is(err, errNoAnswer) {
			return made, err
		}
	}
}

// next returns the decision that the next line or the end of an edit makes about the first
// question. errNoAnswer means that it asked again.
func (v *interview) next(ctx context.Context) (client.Decision, error) {
	var lines <-chan terminal.Typed
	if !v.editor.busy() {
		lines = v.console.Read()
	}
	select {
	case edit := <-v.editor.result():
		return v.hearEdit(edit)
	case <-ctx.Done():
		v.console.Withdraw()
		return client.Decision{}, errLeft
	case typed := <-lines:
		v.console.Take()
		if typed.Err == nil {
			return v.hear(typed.Text)
		}
		if errors.Is(typed.Err, terminal.ErrInterrupted) {
			if back, err := v.back(); back || err != nil {
				return client.Decision{}, noAnswer(err)
			}
		} else if !errors.Is(typed.Err, io.EOF) {
			return client.Decision{}, typed.Err
		}
		return client.Decision{}, errLeft
	}
}
