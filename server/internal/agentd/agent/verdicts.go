package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// briefVerdict is the form of a decision in what its principal has decided, so that a list of them
// reads no journals.
type briefVerdict struct {
	Asked   briefDecision `json:"asked"`
	Verdict loop.Verdict  `json:"verdict"`
	Text    string        `json:"text,omitempty"`
	By      string        `json:"by,omitempty"`
	Time    time.Time     `json:"time"`
}

// appendVerdict appends what a principal decides about a pending decision. It appends nothing for
// an expired decision, or for one of an unknown principal, because no list of a principal has
// these.
func appendVerdict(to []runstore.Verdict, pending []loop.Pending, made *loop.DecisionMade, at time.Time) ([]runstore.Verdict, error) {
	for _, p := range pending {
		if p.ID != made.ID || made.Principal == "" {
			continue
		}
		if len(made.Arguments) > 0 {
			p.Arguments = string(made.Arguments) // what the person approved
		}
		asked, _ := brief([]loop.Pending{p})
		v := briefVerdict{Asked: asked[0], Verdict: made.Verdict, Text: made.Text, By: made.By, Time: at}
		if len(v.Text) > maxBrief {
			v.Text, v.Asked.Cut = cutText(v.Text, maxBrief), true
		}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("noting the verdict about decision %s: %w", made.ID, err)
		}
		return append(to, runstore.Verdict{Principal: made.Principal, Data: data}), nil
	}
	return to, nil
}

// maxMadePage is the largest number of decisions of ListMade. With texts of maxBrief each, they are
// a page that any client of gRPC takes.
const maxMadePage = 100

// MadeQuery selects decisions that a principal made. Size is the number of them; 0 means 50, and at
// most 100 are returned. Token is the next token of the page before; empty means the first page.
type MadeQuery struct {
	Principal string
	Size      int
	Token     string
}

// ListMade returns what a principal has decided in runs that still exist, the newest first. Texts
// have at most 4 KiB. Arguments are those that the person approved. Of Run only ID and Principal
// are set. next is empty on the last page.
func (a *Agent) ListMade(ctx context.Context, query MadeQuery) (list []Decision, next string, err error) {
	const usual = 50
	from := runstore.VerdictQuery{Principal: query.Principal, Limit: min(loop.FirstPositive(query.Size, usual, usual), maxMadePage)}
	if query.Token != "" {
		if from.Before, err = strconv.ParseInt(query.Token, 36, 64); err != nil || from.Before <= 0 {
			return nil, "", unknownToken(query.Token)
		}
	}
	page, err := a.store.Verdicts(ctx, from)
	if err != nil {
		return nil, "", storeError(err)
	}
	for i := range page {
		d, err := madeOf(&page[i])
		if err != nil {
			a.config().Log.With(loglevel.Key, loglevel.Storage).Error("a verdict cannot be read", "run", page[i].RunID, "error", err)
			continue // one that is broken does not hide the others
		}
		list = append(list, d)
	}
	if len(page) == from.Limit {
		next = strconv.FormatInt(page[len(page)-1].Number, 36)
	}
	return list, next, nil
}

func madeOf(v *runstore.Verdict) (Decision, error) {
	var of briefVerdict
	if err := json.Unmarshal(v.Data, &of); err != nil {
		return Decision{}, tool.Errorf(tool.KindInternal, "reading a verdict: %w", err)
	}
	d := of.Asked.decision(&Run{ID: v.RunID, Principal: v.Owner})
	d.Waits, d.MadeAt = false, of.Time
	d.Made = &loop.DecisionMade{ID: of.Asked.ID, Verdict: of.Verdict, Text: of.Text, By: of.By, Principal: v.Principal}
	return d, nil
}
