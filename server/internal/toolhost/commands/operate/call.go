package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// answerGrace is the time after the timeout of a call in which toolhost can report that timeout.
// The client then stops waiting, because a toolhost that hangs reports nothing.
const answerGrace = 5 * time.Second

// asGiven is the value of --approve without a digest. It approves the arguments as the user gave
// them. toolhost refuses the call if filters, repair or defaults change them.
const asGiven = "as-given"

// callFlags holds the flags of `call`.
type callFlags struct {
	save        saving
	id, session string
	ledger      string
	firstSent   cli.Since
	context     cli.Values
	timeout     time.Duration
	stream      bool
	wait        *time.Duration // for an approval; nil means that the call is not held
	approve     string         // asGiven, or the digest of the final arguments; empty means no approval
	maxShown    int            // below 0 means everything
	quoted      bool           // the arguments are on the command line
	readsInput  bool           // the arguments are on standard input
	format      cli.Format
}

const callHelp = `Call calls a tool with arguments in JSON, given on the command line or on standard input, and prints the result. It reads standard input for -, or
where no arguments are given, the tool takes some, and standard input is not a terminal; then it fails if none come in 10s.
 Interrupting it cancels the call. In a terminal, characters of the result that could steer it are shown as escapes,
such as \x1b; elsewhere the result's bytes are printed as they are.

A call that needs a person's approval is refused at first, and the answer shows the arguments that the tool would get: with
what filters, repair and defaults made of the given ones. --approve=DIGEST, with the digest that the answer names, approves
exactly these. --approve alone approves the arguments as they are given, with the defaults that the tool declares for missing ones: if
anything else changes them, the call is refused and the answer shows what they became.

With --wait-for-approval, toolhost holds such a call instead, and a person approves it with ` + "`toolhost approvals approve`" + `: you
in another terminal, or who has the right calls.approve. Standard error says at once what to approve. If nobody does in that
time, the call is refused, and the same command passes once within 15 minutes after the approval. 0s does not wait.

All of the result is printed, unless --max-shown says how much text and JSON is wanted, in bytes: what is more is kept by
toolhost as an artifact, of which the beginning and the end are printed, with the handle for ` + "`toolhost artifact`" + `. So are
files of more than 64 KiB and images of more than 5 MiB, whatever is wanted.

A tool whose plugin may ask (` + "`ask: [person]`" + ` in toolhost.yaml) can ask questions during the call. In a terminal you answer
them at a prompt; elsewhere they are refused, and the tool learns that.

What a tool says about its output in JSON, such as the exit code of a command, goes to standard error.

With -o json it prints one object: call_id, tool, plugin, instance, is_error, text, content, duration_ms, and where
the machinery failed error with kind and message, and arguments and arguments_sha256 if it needs approval; is_error is for what the tool itself reports. With --stream it prints
what happens before that too: to standard error, or with -o json one object a line, told apart by type; the last has
the type result.

Exit codes: 0 there is a result, 1 the tool says that it failed, 2 wrong usage, 3 the machinery failed, 4 no toolhost
answers.`

const callExample = `  toolhost call calculator '{"expression":"13!"}'
  echo '{"path":"go.mod"}' | toolhost call read_file
  toolhost call query_db --context 'tenant="acme"' '{"database":"library","sql":"SELECT 1"}'`

// NewCallCommand returns the command `call`.
func NewCallCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var flags callFlags
	cmd := &cobra.Command{
		Use:               "call TOOL [JSON | -]",
		Short:             "Call a tool and print its result",
		Long:              callHelp,
		Example:           callExample,
		Args:              cli.Arguments(1, 2),
		ValidArgsFunction: conn.completeTool,
	}
	f := cmd.Flags()
	f.StringVar(&flags.id, "call-id", "", "the call's `ID`: a call of the same id is executed once, and asked again gives the same result")
	f.StringVar(&flags.ledger, "ledger", "", "the `ID` of the ledger that the call id is for: a toolhost with another ledger does not execute the call (default: any)")
	f.Var(&flags.firstSent, "first-sent", "the `TIME` when you first sent this call id: 0s or 2h ago, or 2026-01-31T08:00:00Z; a restored toolhost executes a new call only with a time after the restore, or with --ledger")
	f.StringVar(&flags.session, "session", "", "the `SESSION` that the call belongs to")
	flags.context.AddFlag(f, "a value of the call's context, such as 'tenant=\"acme\"'; may be repeated")
	f.DurationVar(&flags.timeout, "timeout", 0, "the `TIME` that the call may take, such as 5s (default: the tool's own)")
	f.BoolVar(&flags.stream, "stream", false, "show statuses and logs as they come")
	f.StringVar(&flags.approve, "approve", "", "approve the call of a dangerous tool, in your name: with the arguments as they are given, or with `=DIGEST` the final arguments that toolhost has shown")
	f.Lookup("approve").NoOptDefVal = asGiven
	wait := f.Duration("wait-for-approval", 0, "wait for the `TIME`, such as 10m, until a person approves the call, if it needs that; 0s asks and does not wait")
	f.IntVar(&flags.maxShown, "max-shown", -1, "how many `BYTES` of text and JSON to print; 0 is none (default: all)")
	f.StringVar(&flags.save.file, "save", "", "save the images and files of the result: the first one as `FILE`, others beside it as FILE-2, FILE-3 before the extension, which is that of the file if it has a name")
	f.BoolVar(&flags.save.overwrite, "overwrite", false, "let --save replace files")
	flags.format.AddFlag(f)
	conn.AddFlag(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.Changed("wait-for-approval") {
			flags.wait = wait
		}
		return flags.run(cmd, args, conn)
	}
	return cmd
}

// run makes the call that the command line describes, and prints its result.
func (f *callFlags) run(cmd *cobra.Command, args []string, conn Connection) error {
	ctx, p := cmd.Context(), conn.Process
	call, err := f.call(ctx, args, p.Stdin)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("timeout") && f.timeout <= 0 {
		return cli.Usage("--timeout: %s is not positive; leave it out for the tool's own", f.timeout)
	}
	if cmd.Flags().Changed("max-shown") && f.maxShown < 0 {
		return cli.Usage("--max-shown: %d is negative; leave it out to see everything", f.maxShown)
	}
	if f.wait != nil && (*f.wait < 0 || f.approve != "") {
		return cli.Usage("--wait-for-approval: give a time of 0s or more, and not with --approve, which approves the call itself")
	}
	return conn.WithAny(func(c *client.Client) error {
		if len(args) < 2 {
			if call.Arguments, err = pipedArguments(ctx, c, call, p.Stdin); err != nil {
				return err
			}
		}
		return f.execute(ctx, c, call, p)
	})
}

// call returns the call that the command line describes. toolhost validates the arguments.
func (f *callFlags) call(ctx context.Context, args []string, stdin io.Reader) (tool.Call, error) {
	call := tool.Call{
		ID: f.id, Tool: args[0], Session: f.session, Context: f.context, Timeout: f.timeout, MaxShown: new(math.MaxInt32),
		Ledger: f.ledger, FirstSent: f.firstSent.Time(),
	}
	if f.maxShown >= 0 {
		call.MaxShown = &f.maxShown
	}
	for flag, id := range map[string]string{"--call-id": f.id, "--session": f.session} {
		if err := tool.CheckID(id); id != "" && err != nil {
			return call, cli.Usage("%s: %w", flag, err)
		}
	}
	if f.approve != "" {
		call.Approval = &tool.Approval{ApprovedBy: userName(), Reason: "toolhost call --approve", Time: time.Now()}
		if f.approve != asGiven {
			call.Approval.ArgumentsSHA256, call.Approval.SessionMove, _ = strings.Cut(f.approve, ".")
		}
	}
	if len(args) < 2 {
		return call, nil
	}
	if args[1] != "-" {
		f.quoted, call.Arguments = len(args[1]) > 0, json.RawMessage(args[1])
		return call, nil
	}
	var err error
	f.readsInput = true
	call.Arguments, err = readArguments(ctx, stdin, 0)
	return call, err
}

// userName returns the name of the user who approves. toolhost adds the verified user of the
// connection.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid:" + strconv.Itoa(os.Getuid())
}

// execute makes the call and prints its result.
func (f *callFlags) execute(ctx context.Context, c *client.Client, call tool.Call, p cli.Process) error {
	show, progress := func(tool.Event) {}, newProgressLine(p)
	switch {
	case f.stream:
		show = eventPrinter(p, f.format.JSON())
	case progress != nil:
		show = progress.show
	}
	if err := f.save.check(); err != nil {
		return err
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		waits := f.timeout + answerGrace
		if f.wait != nil {
			waits += *f.wait
		}
		ctx, cancel = context.WithTimeout(ctx, waits)
		defer cancel()
	}
	person := newInterviewer(ctx, c, p, call.Session, f.readsInput)
	defer person.close()
	call.Answers = person.answers()
	id := call.ID
	follow := func() (tool.Outcome, error) {
		return c.Follow(ctx, call, func(ev tool.Event) {
			if ev.Started != nil {
				id = ev.Started.CallID
			}
			if ev.Question != nil {
				progress.clear()
			}
			person.see(ev)
			show(ev)
		})
	}
	if f.wait != nil {
		call.ApprovalWait = new(time.Duration) // the answer names the decision, for which the same call then waits
	}
	outcome, err := follow()
	if e := outcome.Err; f.wait != nil && *f.wait > 0 && e != nil && e.Decision != "" {
		progress.clear()
		fmt.Fprintf(p.Err(), "the call waits up to %s for an approval: toolhost approvals approve %s\n", *f.wait, cli.OneLine(e.Decision))
		call.ApprovalWait = f.wait
		outcome, err = follow()
	}
	person.close()
	progress.clear()
	if errors.Is(err, context.Canceled) {
		outcome.CallID, outcome.Err = id, unanswered(id, call.Session)
		err = outcome.Err
	}
	if err := showOutcome(p, call.Tool, outcome, err, f.format.JSON(), f.stream); err != nil {
		return err
	}
	if err := f.save.write(p, outcome.Result.Content, readArtifact(ctx, c, f.session)); err != nil {
		return err
	}
	if !f.format.JSON() {
		tellArtifacts(p.Err(), &outcome.Result, f.session)
		if f.approve == asGiven {
			tellDefaults(p.Err(), &outcome.Result)
		}
	}
	if !outcome.Result.IsError {
		return nil
	}
	if f.quoted && !json.Valid(call.Arguments) { // the shell probably removed the quotes
		return &cli.ExitError{Code: cli.ExitToolError, Err: fmt.Errorf("the arguments are not JSON; write an object in single quotes, such as: toolhost call %s '{\"name\":\"value\"}'", call.Tool)}
	}
	return &cli.ExitError{Code: cli.ExitToolError}
}

// tellDefaults prints the defaults that the user approved without seeing them.
func tellDefaults(w io.Writer, r *tool.Result) {
	var filled []struct {
		Path string
		To   json.RawMessage
	}
	if json.Unmarshal(r.Metadata[tool.ReservedPrefix+"repairs"], &filled) != nil || len(filled) == 0 {
		return
	}
	values := make([]string, len(filled))
	for i, f := range filled {
		values[i] = f.Path + " = " + string(f.To)
	}
	fmt.Fprintf(w, "approved with the defaults %s\n", cli.Clip(cli.OneLine(strings.Join(values, ", ")), 1000))
}

// unanswered returns the error of a call that the user interrupted and whose tool did not stop at
// once. It names the command that shows how the call ends. id may be empty.
func unanswered(id, session string) *tool.Error {
	e := tool.Errorf(tool.KindCancelled, "you stopped waiting; the call was told to stop, and has not yet said whether it did")
	if e.CallID = id; id != "" {
		watch := "toolhost watch " + id
		if session != "" {
			watch += " --session " + session
		}
		e.Message += "; `" + watch + "` shows how it ends"
	}
	return e
}

// showOutcome prints the result of a call, and returns its error. streamed says that the command
// has printed events of the call.
func showOutcome(p cli.Process, toolName string, outcome tool.Outcome, err error, asJSON, streamed bool) error {
	if asJSON {
		view := viewOutcome(toolName, outcome)
		if streamed {
			view.Type = "result"
		}
		if writeErr := cli.WriteJSON(p.Stdout, view); writeErr != nil {
			return errors.Join(err, writeErr)
		}
	} else if err == nil {
		text, facts := cli.Shown(&outcome.Result)
		if err := writeText(p.Data(), text); err != nil {
			return err
		}
		if facts != "" {
			fmt.Fprintf(p.Err(), "%s: %s\n", toolName, cli.OneLine(facts))
		}
	}
	if err != nil {
		return explained(err)
	}
	return nil
}

// explained adds to an error what the user can do.
func explained(err error) error {
	failure := tool.AsError(err)
	switch failure.Kind {
	case tool.KindApprovalRequired:
		if len(failure.Arguments) == 0 || failure.ArgumentsSHA256 == "" {
			if failure.Decision != "" {
				return err
			}
			return fmt.Errorf("%w; `toolhost call --approve` approves it", err)
		}
		err = fmt.Errorf("%w\nIt would be executed with these arguments:\n  %s", err, cli.OneLine(string(failure.Arguments)))
		if failure.Decision != "" { // the error says how it is approved, and the caller perhaps may not
			return err
		}
		approve := failure.ArgumentsSHA256
		if failure.SessionMove != "" {
			approve += "." + failure.SessionMove
		}
		return fmt.Errorf("%w\nTo approve exactly these, repeat the command with --approve=%s", err, approve)
	case tool.KindUnsupported:
		return fmt.Errorf("%w; in a terminal, `toolhost call` asks you what a tool with permission asks", err)
	case tool.KindCrashed, tool.KindOutcomeUnknown, tool.KindUnavailable:
		if failure.Plugin != "" {
			return fmt.Errorf("%w; `toolhost why %s` tells more", err, failure.Plugin)
		}
	}
	return err
}

// writeText writes text, and adds a line feed if the last line has none.
func writeText(w io.Writer, text string) error {
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
