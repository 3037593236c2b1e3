package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newRunCommand(p cli.Process) *cobra.Command {
	f := &foreground{setup: setup{process: p, usesToolhost: true, startsToolhost: true}}
	var task taskFlags
	var files []string
	cmd := &cobra.Command{
		Use:   `run "PROMPT"`,
		Short: "Let a model work on a task, and show what happens",
		Long: "Run lets a model work on one task with the tools of a toolhost, and shows what it writes and calls. Where no toolhost\n" +
			"answers at the default address, it starts the one beside agentd, with its own and the installed plugins and the current\n" +
			"folder as workspace, and stops it in the end. Ctrl-C cancels the run; a second one leaves at once.\n\n" +
			"In a terminal it asks for approvals and answers in place. Elsewhere no person can answer: the answer is no, and\n" +
			"standard error says what would have been needed. With --wait-for-approval, a run of a server waits for a person elsewhere.\n\n" +
			"With --addr or --target, or with a target in use, the run belongs to an `agentd serve`, with its model, tools and journal: it\n" +
			"goes on when this process is gone. With --journal, --toolhost or --base-url it belongs to this process.\n\n" + exitCodesHelp,
		Example: "  agentd run \"What is 13! and what is its square root?\"\n" +
			"  agentd run --model scripted:demo.yaml -o json \"Read notes.txt\"\n" +
			"  agentd run --attach invoice.pdf --attach photo.png \"Does the photo show what the invoice says?\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
				return cli.Usage("say what is to be done in one argument, in quotes: agentd run \"PROMPT\"")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			attached, err := readAttachments(cmd.Context(), p, files)
			if err != nil {
				return err
			}
			if task.server, err = task.server.inUse(&f.setup); err != nil {
				return err
			}
			if f.waits && task.server == (serverChoice{}) {
				return cli.Usage("--wait-for-approval: only a run of a server can be decided elsewhere; name the server with --addr or --target")
			}
			f.server, f.setup.runID = task.server, agent.NewRunID()
			return f.work(cmd.Context(), func(ctx context.Context, w *workbench) (begun, error) {
				t, err := task.task(ctx, &f.setup, args[0])
				if err != nil {
					return begun{}, err
				}
				t.RunID, t.Attachments = f.setup.runID, attached
				if w.remote {
					t.People = new(client.People(f.setup.config.Approvals.People(f.attended())))
					t.People.Attended = t.People.Attended || f.waits
				}
				id, err := w.StartRun(ctx, t)
				return begun{id: id}, err
			})
		},
	}
	f.addFlags(cmd.Flags())
	task.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&task.schema, "schema", "", "`FILE` with a JSON Schema of type object: the answer is a JSON object that fits it")
	cmd.Flags().BoolVar(&f.waits, "wait-for-approval", false,
		"with --addr or --target: wait for a person who decides elsewhere, by agentd respond; agentd inbox lists what waits")
	addAttachFlag(cmd.Flags(), &files)
	return cmd
}

// taskFlags holds the flags that set the task and the limits of a new run. A flag that is not set
// leaves the value of agentd.yaml.
type taskFlags struct {
	server      serverChoice
	agent       string
	context     cli.Values
	maxTurns    int
	maxCost     float64
	maxWallTime time.Duration
	schema      string
}

func (t *taskFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.server.addr, "addr", "",
		"`ADDRESS` of an agentd serve that works on the run, instead of this process; \"default\" is the one that `agentd status` shows (default: AGENTD_ADDR, else the target in use)")
	flags.StringVar(&t.server.target, "target", "", "`NAME` of such an agentd serve in the list of `agentd target` (default: AGENTD_TARGET, else the target in use)")
	flags.StringVar(&t.agent, "agent", "", "`NAME` of the agent that does the task: a name of agents in agentd.yaml (default: the key agent)")
	t.context.AddFlag(flags, "a value of the run's context, which tools see, such as 'tenant=\"acme\"'; may be repeated")
	flags.IntVar(&t.maxTurns, "max-turns", 0, "the model may give at most `N` responses")
	flags.Float64Var(&t.maxCost, "max-cost", 0, "the model and the tools may `COST` this, in the currency of the prices")
	flags.DurationVar(&t.maxWallTime, "max-wall-time", 0, "the `TIME` that the run may be at work, such as 10m")
}

// task returns the task for a prompt.
func (t *taskFlags) task(ctx context.Context, s *setup, prompt string) (client.Task, error) {
	if _, known := s.config.Agents[t.agent]; t.agent != "" && !known && t.server == (serverChoice{}) {
		return client.Task{}, cli.Usage("--agent: %w", s.config.NoAgent(t.agent))
	}
	if err := loop.CheckContext(t.context); err != nil {
		return client.Task{}, cli.Usage("--context: %w", err)
	}
	if t.maxTurns < 0 || t.maxCost < 0 || t.maxWallTime < 0 {
		return client.Task{}, cli.Usage("a limit is below zero; leave its flag out for no limit")
	}
	schema, err := readSchema(ctx, t.schema)
	if err != nil {
		return client.Task{}, err
	}
	return client.Task{
		ResponseSchema: schema,
		Prompt:         prompt, Agent: t.agent, Model: s.chosenModel(t.server), Context: t.context,
		Limits: client.RunLimits{Turns: t.maxTurns, Cost: t.maxCost, WallTime: t.maxWallTime},
	}, nil
}

// readSchema returns the content of a file with a JSON Schema, or nothing without a file.
func readSchema(ctx context.Context, file string) (json.RawMessage, error) {
	const most = 1 << 20 // agentd accepts less, and says how much
	if file == "" {
		return nil, nil
	}
	schema, err := readFile(ctx, file, most+1)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, cli.Usage("--schema: %w", bare(err))
	case len(schema) > most:
		return nil, cli.Usage("--schema: %s has more than %s, which is no schema", file, cli.Size(most))
	case len(bytes.TrimSpace(schema)) == 0:
		return nil, cli.Usage("--schema: %s is empty; it has to hold a JSON Schema", file)
	}
	return schema, nil
}

// foreground is a run that this command follows to its end.
type foreground struct {
	setup  setup
	server serverChoice
	format cli.Format
	think  bool // show the model's reasoning
	waits  bool // a person may decide elsewhere although none can here
}

func (f *foreground) addFlags(flags *pflag.FlagSet) {
	f.setup.addFlags(flags)
	f.format.AddFlag(flags)
	addReasoningFlag(flags, &f.think)
}

func addReasoningFlag(flags *pflag.FlagSet, think *bool) {
	flags.BoolVar(think, "reasoning", false, "also show the model's reasoning, as far as the provider sends it; JSON output always has it")
}

// attended reports whether a person can answer. None can if the output is for programs.
func (f *foreground) attended() bool {
	present := cli.IsTerminal(f.setup.process.Stdin) && cli.IsTerminal(f.setup.process.Stdout)
	return f.setup.config.Approvals.People(present).Attended && !f.format.JSON()
}

// begun is a run that has begun.
type begun struct {
	id      string
	after   uint64                   // the display shows events after this sequence number
	pending []client.PendingDecision // decisions that were requested before
}

// work starts or resumes a run and follows it to its end, which becomes the exit code.
func (f *foreground) work(ctx context.Context, begin func(context.Context, *workbench) (begun, error)) (err error) {
	if err := f.setup.load(ctx); err != nil {
		return err
	}
	attended := f.attended()
	if !attended {
		f.setup.config.Approvals.Headless = "always"
	}
	w, err := f.setup.openWork(ctx, f.server, attended)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r, err := begin(ctx, w)
	if err != nil {
		return err
	}
	text := newTextDisplay(f.setup.process)
	text.think = f.think
	text.out = cli.UntilDone(ctx, text.out)
	follow := &follower{agent: w.AgentClient, show: text, people: newInterview(f.setup.process, nil, text), log: w.log, done: ctx.Done(), private: w.private}
	if f.format.JSON() {
		follow.show = &jsonDisplay{out: cli.UntilDone(ctx, f.setup.process.Stdout)}
	}
	// An interrupt cancels the run and not the watch, so that the display shows the outcomes of
	// canceled calls.
	ctx = context.WithoutCancel(ctx)
	if f.waits && !attended {
		follow.waits = f.setup.process.Err()
	}
	if attended {
		follow.people = newInterview(f.setup.process, terminal.NewConsole(f.setup.process), text)
		follow.people.expect(r.pending)
	}
	end, _, err := follow.follow(ctx, r.id, r.after)
	err = errors.Join(err, text.leave())
	if errors.Is(err, errLeft) {
		name := "resume"
		if f.server != (serverChoice{}) { // the server works on the run; only a decision is needed
			name = "chat"
		}
		return &cli.ExitError{Code: exitWaiting, Err: fmt.Errorf("the run waits for a person; go on with it: %s", f.setup.command(name, r.id, f.server))}
	}
	if err != nil && f.server == (serverChoice{}) {
		return fmt.Errorf("%w; the run is kept as far as the journal has it; go on with it: %s", err, f.setup.command("resume", r.id, serverChoice{}))
	}
	if err != nil {
		return err
	}
	f.explain(follow.headless)
	return verdict(end)
}

// needsPerson reports whether a call was not made because no person could be asked.
func needsPerson(r *client.CallResult) bool {
	return r.Err != nil && r.Err.Kind == tool.KindApprovalRequired
}

// explain prints what is needed for the calls that were not made.
func (f *foreground) explain(calls []*client.CallResult) {
	for _, r := range calls {
		rule := ""
		if r.Err.Rule != "" {
			rule = fmt.Sprintf(" (rule %s)", r.Err.Rule)
		}
		fmt.Fprintf(f.setup.process.Err(), "agentd: %s was not called, because no person could be asked: %s%s\n", r.Tool, cli.OneLine(r.Err.Message), rule)
	}
	if len(calls) > 0 {
		elsewhere := ""
		if f.server != (serverChoice{}) {
			elsewhere = " let a person decide elsewhere with --wait-for-approval,"
		}
		fmt.Fprintf(f.setup.process.Err(), "agentd: run it in a terminal to be asked,%s or allow the calls by a rule of the policy in toolhost.yaml\n", elsewhere)
	}
}
