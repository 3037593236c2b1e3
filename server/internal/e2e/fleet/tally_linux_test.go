//go:build more

package fleet_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/client"
)

// tally is what became of all runs. Wrong has the reason of each number that must be 0.
type tally struct {
	runs, ended, cancelled, payments          int
	questions, again                          int // about calls with an unknown outcome, and calls made again for them
	doubled, lost, otherwise, stuck, leftOver int
	wrong                                     []string
}

func (t *tally) note(number *int, format string, args ...any) {
	*number++
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
}

// tally looks at all runs, at the bank, and at what is left in the databases.
func (l *load) tally() *tally {
	l.t.Helper()
	t := &tally{payments: l.bank.payments()}
	known := map[string]bool{} // calls of the runs
	for _, r := range l.runs {
		t.runs++
		switch ended := r.end(); {
		case ended == nil:
			t.note(&t.stuck, "%s is stuck after %d events: %s", r.id, len(r.events), l.row(r.id))
			continue
		case r.manner == cancels:
			t.cancelled++
			if ended.StopReason != "cancelled" {
				t.note(&t.otherwise, "%s ended with %+v after its cancellation", r.id, ended)
			}
		case ended.StopReason != "end_turn" || ended.Text != "all is paid" || ended.Turns != turns:
			t.note(&t.otherwise, "%s ended with %+v", r.id, ended)
		}
		t.ended++
		r.asked.Range(func(any, any) bool { t.questions++; return true })
		r.again.Range(func(_, again any) bool {
			if again == true {
				t.again++
			}
			return true
		})
		for _, one := range append([]*run{r}, r.subs...) {
			l.tallyRun(t, r, one, known)
		}
		if messages := of[*client.UserMessage](r); len(messages) != 0 != r.wrote.Load() || len(messages) > 1 {
			t.note(&t.otherwise, "%s has %d messages", r.id, len(messages))
		}
	}
	for call, receipts := range l.bank.calls {
		if len(receipts) > 1 {
			t.note(&t.doubled, "%s is paid %d times", call, len(receipts))
		}
		if run, _, _ := strings.Cut(call, "."); !known[call] && (l.byID[run] == nil || l.byID[run].manner != cancels) {
			t.note(&t.otherwise, "%s is paid, and no run says so", call)
		}
	}
	for _, key := range l.bank.twice {
		t.note(&t.doubled, "the key %s is paid twice", key)
	}
	for _, why := range l.odd {
		t.note(&t.otherwise, "%s", why)
	}
	l.tallyLedger(t)
	l.tallyLeft(t)
	return t
}

// of returns the events of a kind of a run.
func of[P client.RunPayload](r *run) (found []P) {
	for _, e := range r.events {
		if p, is := e.Payload.(P); is {
			found = append(found, p)
		}
	}
	return found
}

// tallyRun compares the results of the calls of a run or a sub-run with the bank.
func (l *load) tallyRun(t *tally, r, one *run, known map[string]bool) {
	if one.end() == nil {
		t.note(&t.stuck, "%s, a sub-run of %s, has no end", one.id, r.id)
		return
	}
	made := map[string]bool{}
	for _, d := range of[*client.DecisionMade](one) {
		if made[d.ID] {
			t.note(&t.otherwise, "the decision %s of %s was made twice", d.ID, one.id)
		}
		made[d.ID] = true
	}
	for _, result := range of[*client.CallResult](one) {
		call, text := result.CallID, result.Result.Text()
		known[attempts.ReplaceAllString(call, "")] = true
		receipt, paid := strings.CutPrefix(text, "paid ")
		asked, wasAsked := r.asked.Load(attempts.ReplaceAllString(call, ""))
		switch {
		case paid && !slices.Contains(l.bank.receipts(call), receipt):
			t.note(&t.lost, "%s was paid with the receipt %s, and the bank has %v", call, receipt, l.bank.receipts(call))
		case paid, result.Tool == "pay_balance" && text == "enough", result.Tool == "new_task" && text == "the writer is paid", r.manner == cancels:
		case wasAsked && (asked == "pay_once" || asked == "pay_looked") && strings.Contains(text, outcomeAnswer):
		default:
			t.note(&t.otherwise, "%s of %s has the result %q, %v", call, result.Tool, text, result.Err)
		}
	}
}

// tallyLedger checks that what the ledger has as done is paid.
func (l *load) tallyLedger(t *tally) {
	l.t.Helper()
	for _, row := range l.database.Do(l.t, l.ledger, "SELECT id, session FROM toolhost_calls WHERE state = 1 AND tool <> 'pay_balance'") {
		if len(l.bank.receipts(row[0])) == 0 {
			t.note(&t.lost, "%s of %s is done in the ledger, and not paid", row[0], row[1])
		}
	}
}

// tallyLeft waits until nothing is at work in the databases, and counts what stays.
func (l *load) tallyLeft(t *tally) {
	l.t.Helper()
	for _, left := range []struct{ database, what, query string }{
		{l.journal, "runs with an owner", "SELECT id FROM agentd_runs WHERE claimer IS NOT NULL"},
		{l.journal, "unfinished runs", "SELECT id FROM agentd_runs WHERE unfinished"},
		{l.journal, "requests without an outcome", "SELECT id FROM agentd_inbox WHERE seq IS NULL AND refusal IS NULL"},
		{l.journal, "counts of requests", "SELECT id, posted FROM agentd_runs AS r WHERE posted <> (SELECT count(*) FROM agentd_inbox WHERE run = r.number AND seq IS NULL)"},
		{l.ledger, "calls of live toolhosts without an end", "SELECT id FROM toolhost_calls JOIN toolhost_nodes USING (node) WHERE state = 0 AND gone IS NULL"},
	} {
		if t.stuck > 0 {
			return // they explain it
		}
		var rows [][]string
		nothing := func() bool { rows = l.database.Do(l.t, left.database, left.query); return len(rows) == 0 }
		if err := until(l.t.Context(), "nothing is left over", nothing); err != nil {
			for _, row := range rows {
				t.note(&t.leftOver, "%s: %s", left.what, row)
			}
		}
	}
}

// row returns what the database has of a run and its sub-runs.
func (l *load) row(id string) string {
	l.t.Helper()
	return fmt.Sprint(l.database.Do(l.t, l.journal, "SELECT id, last_seq, unfinished, claimer, epoch, wake_at, posted, stalled FROM agentd_runs WHERE id = '"+id+"' OR parent = '"+id+"'"))
}

// String returns the table.
func (t *tally) table(faults map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		parts = append(parts, fmt.Sprintf("%d %s", faults[name], name))
	}
	const format = "%-6v%-7v%-11v%-10v%-11v%-7v%-9v%-6v%-11v%-7v%v\n"
	return fmt.Sprintf(format, "RUNS", "ENDED", "CANCELLED", "PAYMENTS", "QUESTIONS", "AGAIN", "DOUBLED", "LOST", "OTHERWISE", "STUCK", "LEFT OVER") +
		fmt.Sprintf(format, t.runs, t.ended, t.cancelled, t.payments, t.questions, t.again, t.doubled, t.lost, t.otherwise, t.stuck, t.leftOver) +
		"faults: " + strings.Join(parts, ", ")
}
