package auditlog

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/tool"
)

// lineTime is how long a toolhost of a fleet may take for its next line: it reads a log of some
// gigabytes in that time, if only few lines match.
const lineTime = 30 * time.Second

// lineOfNode is a line of a fleet, as -o json prints it.
type lineOfNode struct {
	Node string          `json:"node"`
	Line json.RawMessage `json:"line"`
	seq  uint64
	time time.Time // zero: the line has none
}

// showFleet shows the lines of all toolhosts of a fleet, ordered by time, as the clock of each has
// it. A toolhost orders its own lines.
func showFleet(ctx context.Context, p cli.Process, conn *operate.Connection, s *selection) error {
	if len(s.files) > 0 {
		return cli.Usage("--file and --fleet exclude each other: a file is on this machine")
	}
	nodes, wait, err := conn.Fleet(ctx)
	if err != nil {
		return err
	}
	width := 0
	for _, node := range nodes {
		width = max(width, len(node.Name))
	}
	show := func(line lineOfNode) error {
		if s.format.JSON() {
			return cli.WriteJSON(p.Stdout, line)
		}
		_, err := fmt.Fprintf(p.Out(), "%-*s %s\n", width, cli.OneLine(line.Node), Text(tool.AuditLine{Seq: line.seq, Line: line.Line}))
		return err
	}
	newest := newestLines{most: s.query.Last}
	answers, err := fleet.Merge(ctx, nodes, wait, func(ctx context.Context, c *client.Client) iter.Seq2[lineOfNode, error] {
		return linesOf(c.Admin().Audit(ctx, s.query))
	}, func(a, b lineOfNode) int { return a.time.Compare(b.time) }, func(node target.Node, line lineOfNode) error {
		line.Node = node.Name
		if newest.most > 0 {
			return newest.add(line)
		}
		return show(line)
	})
	if err != nil {
		return err
	}
	shown := 0
	for _, line := range newest.lines {
		if err := show(line); err != nil {
			return err
		}
	}
	for i := range answers {
		shown += answers[i].Value
	}
	return showProblems(p, answers, shown == 0, s.format.JSON())
}

// showProblems says which toolhosts have not answered, or not to the end.
func showProblems(p cli.Process, answers []fleet.Answer[int], first, asJSON bool) error {
	statuses := fleet.Statuses(answers)
	for i, a := range answers {
		if status := &statuses[i]; a.State != fleet.Answered && a.Value > 0 {
			status.Reason = fmt.Sprintf("after %s: %s", cli.Count(a.Value, "line"), status.Reason)
		}
		if asJSON && a.State != fleet.Answered {
			if err := cli.WriteJSON(p.Stdout, statuses[i]); err != nil {
				return err
			}
		}
	}
	if !asJSON {
		if err := fleet.WriteProblems(p, statuses, first); err != nil {
			return err
		}
	}
	return fleet.Err(answers)
}

// linesOf reads the time of each line. A line that is no JSON object is an error.
func linesOf(lines iter.Seq2[tool.AuditLine, error]) iter.Seq2[lineOfNode, error] {
	return func(yield func(lineOfNode, error) bool) {
		for line, err := range lines {
			var at struct {
				Time time.Time `json:"time"`
			}
			if err == nil && json.Unmarshal(line.Line, &at) != nil {
				err = fmt.Errorf("its line %d is not one of an audit log", line.Seq)
			}
			if !yield(lineOfNode{Line: line.Line, seq: line.Seq, time: at.Time}, err) {
				return
			}
		}
	}
}

// newestLines keeps the last lines of a fleet. Each toolhost sends as many, and which are among the
// last of all is known only at the end.
type newestLines struct {
	most, bytes int
	lines       []lineOfNode
}

func (n *newestLines) add(line lineOfNode) error {
	if len(n.lines) == n.most {
		n.bytes -= len(n.lines[0].Line)
		n.lines = n.lines[1:]
	}
	n.lines = append(n.lines, line)
	if n.bytes += len(line.Line); n.bytes > fleet.MaxAnswerBytes {
		return cli.Usage("--last: the last %s have more than %s; ask for fewer, or use --since", cli.Count(n.most, "line"), cli.Size(fleet.MaxAnswerBytes))
	}
	return nil
}
