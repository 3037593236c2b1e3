package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newRespondCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var words verdicts
	var by string
	cmd := &cobra.Command{
		Use:   "respond RUN (--approve DECISION | --edit CALL [JSON] | --reject CALL [--reason WORDS] | --answer CALL TEXT)…",
		Short: "Decide what a run of agentd serve waits for",
		Long: "Respond decides what a run waits for: approves calls, with other arguments if need be, rejects them with a reason that\n" +
			"the model reads, answers questions. `agentd show RUN` says what is wanted. Several decisions may be made at once: all of\n" +
			"them, or none if one cannot be. What a sub-run waits for can be decided at the run above it, too.\n\n" +
			"DECISION is the id of the decision, such as d1. CALL is that too, or the id of the call, of which the end is enough, such\n" +
			"as t2.c0. An approval names the decision, because another person may have edited the call since you saw it: it is then\n" +
			"asked about again, with other arguments. The texts of --edit and --answer follow the flag, or stand behind a \"=\": --answer d1=-3.\n" +
			"Without a text, --edit opens the arguments in $VISUAL or $EDITOR, otherwise at the prompt. Edited arguments have to fit the schema of the tool.\n\n" +
			"In a terminal, respond shows each call to approve (tool, arguments, rule, what it would change) and asks before it decides.",
		Example: "  agentd respond run-k3f6zq7xw2m4n5pa --approve d1 --reject t1.c1 --reason \"not in production\"\n" +
			"  agentd respond run-k3f6zq7xw2m4n5pa --edit d1 '{\"path\": \"/tmp/x\"}'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return cli.Usage("name one run: agentd respond RUN --approve DECISION; `agentd runs --state waiting` lists them")
			}
			return words.fill(args[1:], terminal.NewConsole(p).Edits())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if by == "" {
				by = p.Getenv("USER")
			}
			return s.change(cmd.Context(), func(a *client.AgentClient) error {
				run, err := a.GetRun(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				decisions, err := words.decisions(run.Pending)
				if err != nil {
					return err
				}
				if err := words.edit(cmd.Context(), p, decisions, run.Pending); err != nil {
					return err
				}
				if err := words.confirm(cmd.Context(), p, decisions, run.Pending); err != nil {
					return err
				}
				for runID, made := range byRun(args[0], decisions) {
					if _, err := a.Respond(cmd.Context(), runID, by, made...); err != nil {
						return err
					}
				}
				_, err = fmt.Fprintf(p.Out(), "%s goes on: %d decided, %d still wait\n", args[0], len(decisions), len(run.Pending)-len(decisions))
				return err
			})
		},
	}
	s.addFlags(cmd.Flags())
	words.addFlags(cmd)
	cmd.Flags().StringVar(&by, "by", "", "`NAME` of the person who decides (default: $USER)")
	return cmd
}

// verdicts are the decisions in the order of the command line. A --reason belongs to the decision
// before it.
type verdicts []*verdictFlag

// verdictFlag is one decision of the command line.
type verdictFlag struct {
	flag   string // the name of the flag: approve, edit, reject or answer
	call   string
	text   string // the new arguments, or the answer
	given  bool   // text followed the "=" of the flag
	reason string
	later  string // which later calls are approved too; empty: none
	ask    bool   // the person edits the arguments at the terminal
}

func (v *verdicts) addFlags(cmd *cobra.Command) {
	add := func(flag, usage string) {
		cmd.Flags().Var(&collected{flag, v}, flag, usage)
	}
	add("approve", "approve the call of `DECISION`, make a call with an unknown outcome once more, or let a run that got stuck go on")
	add("edit", "approve `CALL` with other arguments, which follow as JSON; without them, in a terminal, edit the arguments")
	add("reject", "reject `CALL`, or end a run that got stuck")
	add("answer", "answer the question of `CALL`, or say how it ended; the text follows")
	add("later", "approve later calls too, for the decision before it: `CHOICE` is a number of those that `agentd show RUN` lists, and run, session, a time such as 8h, or a date; or JSON as in the events of the run")
	add("reason", "why, in `WORDS`, for the decision before it")
}

// collected is a flag that adds a decision.
type collected struct {
	flag string
	to   *verdicts
}

// String implements pflag.Value.
func (c *collected) String() string { return "" }

// Type implements pflag.Value.
func (c *collected) Type() string { return "text" }

// Set implements pflag.Value.
func (c *collected) Set(value string) error {
	if c.flag == "reason" {
		if len(*c.to) == 0 {
			return fmt.Errorf("a reason follows the decision that it is for, such as --reject CALL --reason WORDS")
		}
		(*c.to)[len(*c.to)-1].reason = value
		return nil
	}
	if c.flag == "later" {
		if len(*c.to) == 0 {
			return fmt.Errorf("--later follows the approval that it belongs to, such as --approve DECISION --later \"1 run\"")
		}
		(*c.to)[len(*c.to)-1].later = value
		return nil
	}
	v := &verdictFlag{flag: c.flag, call: value}
	if v.wantsText() {
		v.call, v.text, v.given = strings.Cut(value, "=")
	}
	*c.to = append(*c.to, v)
	return nil
}

func (v *verdictFlag) wantsText() bool { return v.flag == "edit" || v.flag == "answer" }

// fill assigns the arguments of the command line to the decisions that need a text, in their order.
// If a person is at a terminal, an edit needs no text.
func (v verdicts) fill(texts []string, atTerminal bool) error {
	if len(v) == 0 {
		return cli.Usage("say what is decided: --approve DECISION, --edit CALL JSON, --reject CALL or --answer CALL TEXT")
	}
	for _, d := range v {
		if !d.wantsText() || d.given {
			continue
		}
		if d.ask = len(texts) == 0 && atTerminal && d.flag == "edit"; d.ask {
			continue
		}
		if len(texts) == 0 {
			return cli.Usage("--%s %s has no text; write it behind the call", d.flag, d.call)
		}
		d.text, texts = texts[0], texts[1:]
	}
	if len(texts) > 0 {
		return cli.Usage("%q belongs to no decision; put texts of several words in quotes", texts[0])
	}
	return nil
}

// decisions returns the decisions in the form of the server.
func (v verdicts) decisions(pending []client.PendingDecision) ([]client.Decision, error) {
	var list []client.Decision
	for _, d := range v {
		p, err := d.wanted(pending)
		if err != nil {
			return nil, err
		}
		if d.later != "" && d.flag != "approve" && d.flag != "edit" {
			return nil, cli.Usage("--later %q: only the approval of a call can approve later calls", d.later)
		}
		made := client.Decision{ID: p.ID, Verdict: client.Approve, Text: d.reason}
		switch d.flag {
		case "approve", "edit":
			made.Arguments = json.RawMessage(d.text) // empty for an approval
			if err := d.addStanding(p, &made); err != nil {
				return nil, err
			}
		case "reject":
			made.Verdict = client.Reject
		default:
			made.Verdict, made.Text = client.Answer, d.text
		}
		list = append(list, made)
	}
	return list, nil
}

// edit checks the arguments of edits, and lets the person edit those that the command line lacks.
// decisions are those of v, in the same order.
func (v verdicts) edit(ctx context.Context, p cli.Process, decisions []client.Decision, pending []client.PendingDecision) error {
	for i, d := range v {
		if d.flag != "edit" {
			continue
		}
		made := &decisions[i]
		wanted := &pending[slices.IndexFunc(pending, func(p client.PendingDecision) bool { return p.ID == made.ID })]
		if wanted.Kind != client.DecideApproval {
			continue // agentd says which verdicts fit
		}
		if !d.ask {
			if err := agent.CheckArguments(wanted.Schema, made.Arguments); err != nil {
				return err
			}
			continue
		}
		edited, err := editArguments(ctx, p, string(wanted.Arguments), wanted.Schema)
		if err != nil {
			return err
		}
		if edited == nil {
			return cli.Usage("the arguments of %s were not changed, and nothing was decided; approve them with --approve %s", d.call, wanted.ID)
		}
		made.Arguments = edited
	}
	return nil
}

// confirm shows a person at a terminal each call that is to be approved, and asks. The person may
// not have seen it: the id of a decision says nothing of the call. It shows a call with the
// arguments that it would get, but no diff for arguments that the person changed. Arguments that
// the person edited just now need no question. It shows which later calls are approved, too.
func (v verdicts) confirm(ctx context.Context, p cli.Process, decisions []client.Decision, pending []client.PendingDecision) error {
	if !cli.IsTerminal(p.Stdin) || !cli.IsTerminal(p.Stdout) {
		return nil
	}
	c, d := terminal.NewConsole(p), newTextDisplay(p)
	d.block = nil // no call is running
	for i, verdict := range v {
		later := decisions[i].Standing
		if decisions[i].Verdict != client.Approve || verdict.ask && later == nil {
			continue
		}
		shown := pending[slices.IndexFunc(pending, func(p client.PendingDecision) bool { return p.ID == decisions[i].ID })]
		if len(decisions[i].Arguments) > 0 {
			shown.Arguments, shown.Diff = decisions[i].Arguments, ""
		}
		if err := d.decision(&shown, 1); err != nil {
			return err
		}
		prompt := "approve it? [y]es, or no: "
		if later != nil {
			prompt = "approve it, and those? [y]es, or no: "
			if err := d.line(yellow, "  later calls of %s are allowed %s", shown.Tool, cli.OneLine(describeStanding(later))); err != nil {
				return terminal.Written(err)
			}
		}
		word, err := c.Answer(ctx.Done(), terminal.Question{Prompt: prompt, Decision: true})
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, terminal.ErrInterrupted) {
			return err
		}
		if word = strings.ToLower(strings.TrimSpace(word)); word != "y" && word != "yes" {
			return cli.Usage("%s was not approved, and nothing was decided; reject it with --reject %[1]s", shown.ID)
		}
	}
	return nil
}

// byRun groups decisions by their run: the named run, or its sub-runs, whose decisions are named
// RUN/DECISION.
func byRun(runID string, decisions []client.Decision) map[string][]client.Decision {
	groups := make(map[string][]client.Decision)
	for _, d := range decisions {
		at := runID
		if below, id, ok := strings.Cut(d.ID, "/"); ok {
			at, d.ID = below, id
		}
		groups[at] = append(groups[at], d)
	}
	return groups
}

// wanted returns the open decision that the flag names: by its id, by the id of its call, or by the
// end of that. A call id is not enough for an approval: the call may have been asked about again
// with other arguments, and the person has seen only the former ones.
func (d *verdictFlag) wanted(pending []client.PendingDecision) (*client.PendingDecision, error) {
	var all []string
	var found []*client.PendingDecision
	for i := range pending {
		p := &pending[i]
		switch {
		case d.call == p.ID:
			return p, nil
		case d.call != "" && (d.call == p.CallID || strings.HasSuffix(p.CallID, "."+d.call)):
			found = append(found, p)
		}
		all = append(all, strings.TrimSpace(p.ID+" "+p.CallID))
	}
	waits := strings.Join(all, ", ")
	switch {
	case len(all) == 0:
		return nil, cli.Usage("the run waits for no decision")
	case len(found) == 0:
		return nil, cli.Usage("the run does not wait for a decision on %q; it waits for %s", d.call, waits)
	case len(found) > 1:
		return nil, cli.Usage("%q names several calls; name the decision: the run waits for %s", d.call, waits)
	case d.flag == "approve":
		return nil, cli.Usage("--approve %s: name the decision that you have seen in `agentd show RUN`, and not its call, "+
			"which may have got other arguments since; the run waits for %s", d.call, waits)
	}
	return found[0], nil
}
