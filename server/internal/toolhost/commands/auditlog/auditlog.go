// Package auditlog has the command `audit`: it checks the chain of the audit log, and shows its
// lines.
package auditlog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/tool"
)

// NewCommand returns the command `audit`.
func NewCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show the audit log, and check that it was not changed",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newVerifyCommand(p), newSearchCommand(p), newTailCommand(p))
	return cmd
}

// report is the result of verify, as -o json prints it.
type report struct {
	Files     []string `json:"files"`
	Lines     int      `json:"lines"`
	First     uint64   `json:"first"`
	Last      uint64   `json:"last"`
	Head      string   `json:"head"`
	Unchained int      `json:"unchained,omitempty"`
	Broken    int      `json:"broken,omitempty"`
	Problems  []string `json:"problems"`
	Noted     int      `json:"noted,omitempty"` // lines that the database has noted, and that the log must have
}

func newVerifyCommand(p cli.Process) *cobra.Command {
	var flags serve.Flags
	var format cli.Format
	var expected []string
	cmd := &cobra.Command{
		Use:   "verify [FILE…]",
		Short: "Check that no line of the audit log was changed, removed or inserted",
		Long: "Verify reads the files of the audit log on this machine, the oldest first, and checks the chain: each line has a\n" +
			"number, and the digest of the line before it. It prints the number and digest of the last line. Keep that text\n" +
			"elsewhere: with --expect, verify also finds out whether lines were removed at the end, or the whole log was replaced.\n" +
			"Without FILE, it reads the log of the configuration and the files that toolhost has left. If toolhost shares its\n" +
			"ledger in a database, that has noted the last line every few seconds: these lines must be in the log, too.\n" +
			"It exits with 1 if the log was changed.\n" +
			"With -o json it prints an object: files, lines, first, last, head, unchained, broken, problems\n" +
			"and noted: how many lines of the database are in the log.",
		Example: "  toolhost audit verify\n  toolhost audit verify --expect 4711:9f86d0…",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, files []string) error {
			var noted []audit.Head
			heads, err := parseHeads(expected)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				state, err := flags.StateFiles(p.Getenv)
				if err != nil {
					return err
				}
				if files, err = audit.Files(state.Audit); err != nil {
					return err
				}
				if len(files) == 0 {
					return fmt.Errorf("there is no audit log at %s; name its files, or the toolhost's --config or --state", state.Audit)
				}
				if noted, err = notedHeads(cmd.Context(), state); err != nil {
					fmt.Fprintf(p.Err(), "the log is not compared with what the database has noted: %v\n", err)
				}
			}
			found, noted, err := verify(files, heads, noted)
			if err != nil {
				return err
			}
			return showReport(p, files, found, len(noted), format.JSON())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&expected, "expect", nil, "`SEQ:SHA256` of a line that must be in the log, as an earlier verify printed it; may be given more than once")
	f.StringVar(&flags.Config, "config", "", "configuration `FILE` of the toolhost (default: as for `toolhost serve`)")
	f.StringVar(&flags.StateDir, "state", "", "state folder `DIR` of the toolhost (default: as for `toolhost serve`)")
	format.AddFlag(f)
	return cmd
}

func parseHeads(texts []string) ([]audit.Head, error) {
	var heads []audit.Head
	for _, text := range texts {
		seq, digest, _ := strings.Cut(text, ":")
		n, err := strconv.ParseUint(seq, 10, 64)
		if err != nil || len(digest) != 64 {
			return nil, cli.Usage("--expect: %q is not SEQ:SHA256, such as `toolhost audit verify` prints it", text)
		}
		heads = append(heads, audit.Head{Seq: n, SHA256: strings.ToLower(digest)})
	}
	return heads, nil
}

func showReport(p cli.Process, files []string, found audit.Report, noted int, asJSON bool) error {
	problems := []string{}
	for _, problem := range found.Problems {
		problems = append(problems, problem.String())
	}
	if asJSON {
		err := cli.WriteJSON(p.Stdout, report{
			Files: files, Lines: found.Lines, First: found.First, Last: found.Last, Head: found.Head.String(),
			Unchained: found.Unchained, Broken: found.Broken, Problems: problems, Noted: noted,
		})
		if err != nil {
			return err
		}
	} else {
		writeReport(p, files, found, problems)
		if noted > 0 && len(problems) == 0 {
			fmt.Fprintf(p.Out(), "%s that the database has noted: all are there\n", cli.Count(noted, "line"))
		}
	}
	if len(problems) > 0 {
		return &cli.ExitError{Code: cli.ExitToolError, Err: errors.New("the audit log was changed")}
	}
	return nil
}

func writeReport(p cli.Process, files []string, found audit.Report, problems []string) {
	out := p.Out()
	for _, problem := range problems {
		fmt.Fprintln(out, problem)
	}
	switch {
	case found.Lines == 0:
		fmt.Fprintf(out, "no line of a chain in %s\n", cli.Count(len(files), "file"))
	case len(problems) == 0:
		fmt.Fprintf(out, "%s in %s, from %d to %d: none was changed\n", cli.Count(found.Lines, "line"), cli.Count(len(files), "file"), found.First, found.Last)
	}
	if found.First > 1 {
		fmt.Fprintf(out, "the lines before %d are in earlier files, which were not read\n", found.First)
	}
	if found.Unchained > 0 {
		fmt.Fprintf(out, "%s of an earlier version before the chain: not checked\n", cli.Count(found.Unchained, "line"))
	}
	if found.Broken > 0 {
		fmt.Fprintf(out, "%s: toolhost was killed, or the disk was full\n", cli.Count(found.Broken, "incomplete line"))
	}
	if found.Lines > 0 {
		fmt.Fprintf(out, "the last line is %s\n", found.Head)
	}
}

// selection is the flags that select lines.
type selection struct {
	query  tool.AuditQuery
	since  cli.Since
	files  []string
	format cli.Format
}

func (s *selection) add(cmd *cobra.Command, conn *operate.Connection) {
	f := cmd.Flags()
	f.StringVar(&s.query.Principal, "principal", "", "only lines of this principal or delegate, by its `KEY`")
	f.StringVar(&s.query.Approver, "approver", "", "only lines that this principal approved, by its `KEY`")
	f.StringVar(&s.query.CallID, "call", "", "only lines of the call with this `ID`")
	f.StringVar(&s.query.Tool, "tool", "", "only lines of this `TOOL`")
	f.StringVar(&s.query.Kind, "kind", "", "only lines of this `KIND`: call, authentication, authorization, administration, credential, approval or rotation")
	f.StringVar(&s.query.Decision, "decision", "", "only lines with this `DECISION`: allowed, denied, approval_required, approved or rate_limited")
	f.StringArrayVar((*[]string)(&s.query.Tenants), "tenant", nil, "only lines of this `TENANT`; may be given more than once")
	f.StringArrayVar(&s.files, "file", nil, "read this `FILE` of this machine, instead of asking the toolhost; may be given more than once, the oldest first")
	s.since.AddFlag(f, "only lines from this `TIME` on: 24h or 7d ago, or 2026-01-31")
	conn.AddFlag(f)
	s.format.AddFlag(f)
}

func newSearchCommand(p cli.Process) *cobra.Command {
	conn := operate.Connection{Process: p}
	var s selection
	cmd := &cobra.Command{
		Use:   "search",
		Short: "Show the lines of the audit log that match",
		Long: "Search shows lines of the audit log, the oldest first: the number, the time, the decision, the principal, where it\n" +
			"was, what it wanted, and why it was decided so. It asks the toolhost, which shows a caller the tenants in which it\n" +
			"has the right audit.read; with --file it reads a file on this machine.\n" +
			"With -o json it prints the lines as they are; docs/audit.md describes their keys.\n\n" +
			"With --fleet it asks every toolhost of a fleet and orders their lines by time, as the clock of each has it. Each line\n" +
			"begins with its node; in JSON it is an object with node and line. A toolhost that takes longer than --node-timeout for\n" +
			"its next line is left out from then on, and the others go on. A table at the end names it and says why, in JSON a\n" +
			"last object with node, address, state and reason, and the exit code is then 3, or 4 if none answers.",
		Example: "  toolhost audit search --decision denied --since 24h\n  toolhost audit search --principal red/ada -o json\n  toolhost audit search --fleet --target prod --since 24h",
		Args:    cli.Arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return show(cmd.Context(), p, &conn, &s) },
	}
	s.add(cmd, &conn)
	conn.AddFleetFlags(cmd.Flags(), lineTime)
	cmd.Flags().IntVar(&s.query.Last, "last", 0, "only the last `N` lines that match (default: all)")
	return cmd
}

func newTailCommand(p cli.Process) *cobra.Command {
	conn := operate.Connection{Process: p}
	var s selection
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the newest lines of the audit log, and with -f each new one",
		Long: "Tail shows the last lines of the audit log that match. With -f it goes on with new lines until it is interrupted,\n" +
			"which is no failure. It takes the same flags as `toolhost audit search`.\n" +
			"With -o json it prints the lines as they are; docs/audit.md describes their keys.",
		Example: "  toolhost audit tail -f --kind authentication",
		Args:    cli.Arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return show(cmd.Context(), p, &conn, &s) },
	}
	s.add(cmd, &conn)
	cmd.Flags().IntVar(&s.query.Last, "last", 10, "begin with the last `N` lines that match; 0: all")
	cmd.Flags().BoolVarP(&s.query.Follow, "follow", "f", false, "go on with new lines as they are written")
	return cmd
}

func show(ctx context.Context, p cli.Process, conn *operate.Connection, s *selection) error {
	if s.query.Last < 0 {
		return cli.Usage("--last: %d is negative; use 0 for all lines", s.query.Last)
	}
	s.query.Since = s.since.Time()
	if conn.AsksFleet() {
		return showFleet(ctx, p, conn, s)
	}
	print := func(line tool.AuditLine) error {
		if s.format.JSON() {
			_, err := fmt.Fprintf(p.Stdout, "%s\n", line.Line)
			return err
		}
		_, err := fmt.Fprintln(p.Out(), Text(line))
		return err
	}
	if len(s.files) > 0 {
		if s.query.Follow {
			return cli.Usage("--file and --follow: a file of this machine is not followed; ask the toolhost")
		}
		return audit.Search(ctx, s.files, audit.Query{
			Principal: s.query.Principal, Approver: s.query.Approver, CallID: s.query.CallID, Tool: s.query.Tool, Kind: audit.Kind(s.query.Kind),
			Outcome: audit.Outcome(s.query.Decision), Since: s.query.Since, Tenants: s.query.Tenants, Last: s.query.Last,
		}, func(line audit.Line) error { return print(tool.AuditLine{Seq: line.Seq, Line: line.Text}) })
	}
	return conn.With(func(c *client.Client) error {
		for line, err := range c.Admin().Audit(ctx, s.query) {
			if err != nil && ctx.Err() != nil && s.query.Follow {
				return nil // the user has interrupted it
			}
			if err != nil {
				return err
			}
			if err := print(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// fields has what Text shows of a line.
type fields struct {
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Kind      string    `json:"kind"`
	Principal string    `json:"principal"`
	Via       string    `json:"via"`
	From      string    `json:"from"`
	CallID    string    `json:"call_id"`
	Tool      string    `json:"tool"`
	Act       string    `json:"act"`
	Target    string    `json:"target"`
	Decision  string    `json:"decision"`
	Rule      string    `json:"rule"`
	Reason    string    `json:"reason"`
	Given     string    `json:"given_reason"`
	Approver  string    `json:"approver"`
	Approved  string    `json:"approved_by"`
}

// Text returns a line for people: its number, time and decision, the principal and where it is,
// what it wanted, and why it was decided so. Callers choose some of the texts, so Text escapes
// them.
func Text(line tool.AuditLine) string {
	var f fields
	if err := json.Unmarshal(line.Line, &f); err != nil {
		return fmt.Sprintf("%d  %s", line.Seq, cli.OneLine(string(line.Line)))
	}
	who := cmp.Or(f.Principal, "a stranger")
	if f.Via != "" {
		who += " through " + f.Via
	}
	if f.From != "" {
		who += " at " + f.From
	}
	what := "called " + f.Tool
	if f.CallID != "" {
		what += " as " + f.CallID
	}
	if f.Act != "" {
		what = strings.TrimSpace("wanted " + f.Act + " " + cmp.Or(f.Target, f.Tool))
	}
	if f.Kind == string(audit.OfCredential) && f.Via != "" { // the principal is that of the token
		who, what = f.Via, strings.TrimSpace("did "+f.Act+" "+f.Target+" for "+f.Principal)
	}
	why := f.Reason
	if f.Rule != "" {
		why = strings.TrimSpace(fmt.Sprintf("rule %s %s", f.Rule, f.Reason))
	}
	if by := cmp.Or(f.Approver, f.Approved); by != "" {
		why = strings.TrimSpace("approved by " + by + " " + why)
	}
	text := fmt.Sprintf("%-6d %s  %-17s  %s %s", f.Seq, f.Time.Local().Format("2006-01-02 15:04:05"), f.Decision, who, what)
	if why != "" {
		text += ": " + why
	}
	if f.Given != "" {
		text += fmt.Sprintf("; the caller's reason: %q", f.Given)
	}
	return cli.OneLine(text)
}
