package agentd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/rpc/agentclient"
)

func newRespondCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var words verdicts
	var by string
	cmd := &cobra.Command{
		Use:   "respond RUN (--approve CALL | --edit CALL JSON | --reject CALL [--reason WORDS] | --answer CALL TEXT)…",
		Short: "Decide what a run of agentd serve waits for",
		Long: "Respond decides what a run waits for: approves calls, with other arguments if need be, rejects them with a reason that\n" +
			"the model reads, answers questions. `agentd show RUN` says what is wanted. Several decisions may be made at once: all of\n" +
			"them, or none if one cannot be. What a sub-run waits for can be decided at the run above it, too.\n\n" +
			"CALL is the id of the call or of the decision, such as d1; a run that got stuck has only that. The end of a call's id, such\n" +
			"as t2.c0, is enough. The texts of --edit and --answer follow the flag, or stand behind a \"=\": --answer d1=-3.",
		Example: "  agentd respond run-k3f6zq7xw2m4n5pa --approve t1.c0 --reject t1.c1 --reason \"not in production\"\n" +
			"  agentd respond run-k3f6zq7xw2m4n5pa --edit d1 '{\"path\": \"/tmp/x\"}'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return cli.Usage("name one run: agentd respond RUN --approve CALL; `agentd runs --state waiting` lists them")
			}
			return words.fill(args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if by == "" {
				by = p.Getenv("USER")
			}
			return s.with(func(a *agentclient.Client) error {
				run, err := a.GetRun(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				decisions, err := words.decisions(run.GetPendingDecisions())
				if err != nil {
					return err
				}
				for runID, made := range byRun(args[0], decisions) {
					if _, err := a.Respond(cmd.Context(), runID, by, made...); err != nil {
						return err
					}
				}
				_, err = fmt.Fprintf(p.Out(), "%s goes on: %d decided, %d still wait\n", args[0], len(decisions), len(run.GetPendingDecisions())-len(decisions))
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
}

func (v *verdicts) addFlags(cmd *cobra.Command) {
	add := func(flag, usage string) {
		cmd.Flags().Var(&collected{flag, v}, flag, usage)
	}
	add("approve", "approve `CALL`, make a call with an unknown outcome once more, or let a run that got stuck go on")
	add("edit", "approve `CALL` with other arguments, which follow as JSON")
	add("reject", "reject `CALL`, or end a run that got stuck")
	add("answer", "answer the question of `CALL`, or say how it ended; the text follows")
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
	v := &verdictFlag{flag: c.flag, call: value}
	if v.wantsText() {
		v.call, v.text, v.given = strings.Cut(value, "=")
	}
	*c.to = append(*c.to, v)
	return nil
}

func (v *verdictFlag) wantsText() bool { return v.flag == "edit" || v.flag == "answer" }

// fill assigns the arguments of the command line to the decisions that need a text, in their order.
func (v verdicts) fill(texts []string) error {
	if len(v) == 0 {
		return cli.Usage("say what is decided: --approve CALL, --edit CALL JSON, --reject CALL or --answer CALL TEXT")
	}
	for _, d := range v {
		if !d.wantsText() || d.given {
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
func (v verdicts) decisions(pending []*agentdv1.PendingDecision) ([]*agentdv1.Decision, error) {
	var list []*agentdv1.Decision
	for _, d := range v {
		p, err := wanted(pending, d.call)
		if err != nil {
			return nil, err
		}
		made := &agentdv1.Decision{DecisionId: p.GetDecisionId()}
		switch d.flag {
		case "approve":
			made.Verdict = &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Reason: d.reason}}
		case "edit":
			made.Verdict = &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Arguments: []byte(d.text), Reason: d.reason}}
		case "reject":
			made.Verdict = &agentdv1.Decision_Reject{Reject: &agentdv1.Reject{Reason: d.reason}}
		default:
			made.Verdict = &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: d.text}}
		}
		list = append(list, made)
	}
	return list, nil
}

// byRun groups decisions by their run: the named run, or its sub-runs, whose decisions are named
// RUN/DECISION.
func byRun(runID string, decisions []*agentdv1.Decision) map[string][]*agentdv1.Decision {
	groups := make(map[string][]*agentdv1.Decision)
	for _, d := range decisions {
		at := runID
		if below, id, ok := strings.Cut(d.GetDecisionId(), "/"); ok {
			at, d.DecisionId = below, id
		}
		groups[at] = append(groups[at], d)
	}
	return groups
}

// wanted returns the open decision with a name: its id, the id of its call, or the end of one.
func wanted(pending []*agentdv1.PendingDecision, name string) (*agentdv1.PendingDecision, error) {
	var all []string
	for _, p := range pending {
		if name == p.GetDecisionId() || name == p.GetCallId() || name != "" && strings.HasSuffix(p.GetCallId(), "."+name) {
			return p, nil
		}
		all = append(all, strings.TrimSpace(p.GetDecisionId()+" "+p.GetCallId()))
	}
	if len(all) == 0 {
		return nil, cli.Usage("the run waits for no decision")
	}
	return nil, cli.Usage("the run does not wait for a decision on %q; it waits for %s", name, strings.Join(all, ", "))
}
