package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// Decision is a decision that a run waits for, or has waited for.
type Decision struct {
	loop.Pending // RunID is empty
	// Cut is whether a text of the decision is not whole, and its schema, diff, offers and held result
	// are left out; see ListDecisions.
	Cut bool
	// Brief is whether the decision comes from a list, which has less than a person has to see.
	Brief bool
	// Waits is whether the run waits for the decision.
	Waits bool
	// Made and MadeAt are the decision that was made, and when. Nil while the run waits, and if it
	// waits no more without a decision.
	Made   *loop.DecisionMade
	MadeAt time.Time

	Run Run // the run that waits; ListDecisions and Decision set no Pending
}

// briefDecision is the form of a decision in the head of its run.
type briefDecision struct {
	ID          string            `json:"id"`
	Kind        loop.DecisionKind `json:"kind"`
	CallID      string            `json:"call_id,omitempty"`
	Tool        string            `json:"tool,omitempty"`
	DisplayName string            `json:"display_name,omitempty"`
	Plugin      string            `json:"plugin,omitempty"` // that asks
	Reason      string            `json:"reason,omitempty"`
	Options     []string          `json:"options,omitempty"`
	Rule        string            `json:"rule,omitempty"`
	FourEyes    bool              `json:"four_eyes,omitempty"`
	Approvers   []string          `json:"approver_groups,omitempty"`
	Arguments   string            `json:"arguments,omitempty"`
	Requested   time.Time         `json:"requested"`
	Expires     time.Time         `json:"expires,omitzero"`
	Cut         bool              `json:"cut,omitempty"`
}

// briefDecisions is what the head of a run has of its decisions. An agentd of before writes a head
// and leaves the decisions as they were, so they count only for the event that they were written
// with.
type briefDecisions struct {
	Seq  uint64          `json:"seq"` // of the run's last event
	List []briefDecision `json:"list"`
}

// maxBriefs is the number of bytes of the texts of a run's decisions after which further ones have
// none in a list.
const maxBriefs = 256 << 10

// maxBrief is the largest number of bytes of a text in a list of decisions.
const maxBrief = 4 << 10

// headOf returns the decisions that a run waits for after an event, and the first end of one of
// them, for the head of the run.
func headOf(pending []loop.Pending, seq uint64) (data []byte, by time.Time, err error) {
	if len(pending) == 0 {
		return nil, by, nil
	}
	list, by := brief(pending)
	data, err = json.Marshal(briefDecisions{seq, list})
	return data, by, err
}

func brief(pending []loop.Pending) (list []briefDecision, by time.Time) {
	list = make([]briefDecision, len(pending))
	left := maxBriefs
	for i := range pending {
		p := &pending[i]
		d := briefDecision{
			ID: p.ID, Kind: p.Kind, CallID: p.CallID, Tool: p.Tool, DisplayName: p.DisplayName, Reason: p.Reason, Options: p.Options,
			Rule: p.Rule, FourEyes: p.FourEyes, Approvers: p.Approvers, Arguments: p.Arguments, Requested: p.Requested, Expires: p.Expires,
			Cut: len(p.Schema) > 0 || p.Diff != "" || len(p.Offers) > 0 || p.Held != nil || p.Question != nil,
		}
		if p.Question != nil {
			d.Plugin = p.Question.Plugin
		}
		for _, text := range []*string{&d.Reason, &d.Arguments} {
			if most := min(maxBrief, left); len(*text) > most {
				*text, d.Cut = cutText(*text, most), true
			}
			left -= len(*text)
		}
		if size := len(strings.Join(d.Options, "")); size > min(maxBrief, left) {
			d.Options, d.Cut = nil, true
		} else {
			left -= size
		}
		if !p.Expires.IsZero() && (by.IsZero() || p.Expires.Before(by)) {
			by = p.Expires
		}
		list[i] = d
	}
	return list, by
}

// cutText returns the beginning of a text, without a part of a character at its end.
func cutText(text string, most int) string {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func (d *briefDecision) decision(run *Run) Decision {
	p := loop.Pending{
		DecisionRequested: loop.DecisionRequested{
			ID: d.ID, Kind: d.Kind, CallID: d.CallID, Tool: d.Tool, DisplayName: d.DisplayName, Reason: d.Reason, Options: d.Options, Rule: d.Rule, FourEyes: d.FourEyes,
			Approvers: d.Approvers,
		},
		Arguments: d.Arguments, Requested: d.Requested, Expires: d.Expires,
	}
	if d.Plugin != "" {
		p.Question = &loop.ToolQuestion{Plugin: d.Plugin}
	}
	return Decision{Pending: p, Waits: true, Brief: true, Cut: d.Cut, Run: *run}
}

// DecisionQuery selects decisions that runs wait for. The zero value is the first page of all.
type DecisionQuery struct {
	// Size is the number of decisions after which a page ends; 0 means 50. A page ends with the last
	// decision of a run, so it can have more.
	Size  int
	Token string // the next token of the page before; empty means the first page
	// Tenants and Principal select the runs of some tenants, and those of the principal with a key.
	// Both empty means all.
	Tenants   []string
	Principal string
}

// Selects reports whether the query selects the decisions of a run, whose owner is the key of a
// principal.
func (q *DecisionQuery) Selects(runID, owner string) bool {
	return len(q.Tenants) == 0 && q.Principal == "" || q.Principal != "" && q.Principal == owner || slices.Contains(q.Tenants, TenantOf(runID))
}

// ListDecisions returns the decisions that runs wait for. The run whose decision ends first comes
// first, and so do its decisions. A decision of a sub-run belongs to the sub-run. Texts have at
// most 4 KiB. next is empty on the last page. If few runs match, a page can be short or empty
// although more pages follow.
func (a *Agent) ListDecisions(ctx context.Context, query DecisionQuery) (list []Decision, next string, err error) {
	const usual = 50
	size := min(loop.FirstPositive(query.Size, usual, usual), runstore.MaxPage)
	from := runstore.WaitingQuery{Limit: min(size, maxWaiting)}
	switch {
	case len(query.Tenants) == 0:
		from.Owner = query.Principal
	case len(query.Tenants) == 1 && query.Principal == "":
		from.Tenant = query.Tenants[0]
	}
	if from.After, err = parsePlace(query.Token); err != nil {
		return nil, "", err
	}
	for scanned := 0; scanned < maxScanned && len(list) < size; {
		page, last, err := a.store.Waiting(ctx, from)
		if err != nil {
			return nil, "", storeError(err)
		}
		for i := range page {
			if !query.Selects(page[i].ID, page[i].Head.Owner) {
				continue
			}
			found, err := a.decisionsOf(ctx, &page[i])
			if err != nil {
				a.config().Log.With(loglevel.Key, loglevel.Storage).Error("the decisions of a run cannot be read", "run", page[i].ID, "error", err)
				continue // one broken run does not hide the others
			}
			list = append(list, found...)
		}
		from.After = last
		if scanned += len(page); len(page) < from.PageSize() {
			return list, "", nil
		}
	}
	return list, formatPlace(from.After), nil
}

// maxWaiting is the largest number of runs that are read at once. Their decisions, of maxBriefs
// each, and 512 KiB of held calls are a page that any client of gRPC takes.
const maxWaiting = 14

// decisionsOf returns the decisions that a run of the store waits for, the one that ends first
// first.
func (a *Agent) decisionsOf(ctx context.Context, stored *runstore.Run) ([]Decision, error) {
	run, err := summarize(stored)
	if err != nil || !run.Waiting { // an agentd of before has continued the run, and left the column
		return nil, err
	}
	var head briefDecisions
	if err := json.Unmarshal(stored.Head.Decisions, &head); err != nil {
		return nil, fmt.Errorf("reading the decisions in the head: %w", err)
	}
	list := head.List
	if head.Seq != stored.LastSeq { // of before the column, or an agentd of before has continued the run
		var s loop.State
		if _, err := a.journal.fold(ctx, run.ID, &s); err != nil {
			return nil, err
		}
		list, _ = brief(s.Pending())
	}
	decisions := make([]Decision, len(list))
	for i := range list {
		decisions[i] = list[i].decision(&run)
	}
	slices.SortStableFunc(decisions, func(a, b Decision) int {
		never := func(d *Decision) int {
			if d.Expires.IsZero() {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(never(&a), never(&b)), a.Expires.Compare(b.Expires))
	})
	return decisions, nil
}

// Decision returns one decision of a run as a whole, also after it was made, or a KindNotFound.
func (a *Agent) Decision(ctx context.Context, runID, id string) (Decision, error) {
	run, err := a.journal.summaryOf(ctx, runID)
	if err != nil {
		return Decision{}, err
	}
	var s loop.State
	if _, err := a.journal.fold(ctx, runID, &s); err != nil {
		return Decision{}, err
	}
	for _, p := range s.Pending() {
		if p.ID == id {
			return Decision{Pending: p, Waits: true, Run: run}, nil
		}
	}
	var d *Decision
	for rec, err := range a.store.Read(ctx, runID, 0) {
		if err != nil {
			return Decision{}, storeError(err)
		}
		switch loop.Type(rec.Type) {
		case loop.TypeDecisionRequested, loop.TypeDecisionExtended, loop.TypeDecisionMade:
		default:
			continue
		}
		event, err := decode(rec)
		if err != nil {
			return Decision{}, tool.Errorf(tool.KindInternal, "the journal of run %s cannot be read: %w", runID, err)
		}
		switch p := event.Payload.(type) {
		case *loop.DecisionRequested:
			if p.ID == id {
				d = &Decision{Pending: loop.Pending{DecisionRequested: *p, Arguments: string(p.Final), Requested: event.Time}, Run: run}
				if p.Expiry > 0 {
					d.Expires = event.Time.Add(p.Expiry)
				}
			}
		case *loop.DecisionExtended:
			if d != nil && p.ID == id {
				d.Expires = p.Expires
			}
		case *loop.DecisionMade:
			if d != nil && p.ID == id {
				d.Made, d.MadeAt = p, event.Time
			}
		}
	}
	if d == nil {
		return Decision{}, tool.Errorf(tool.KindNotFound, "run %s has no decision %q", runID, loop.Clip(id))
	}
	return *d, nil
}

// formatPlace returns a place of the store as the token of a page.
func formatPlace(p runstore.Place) string {
	return strconv.FormatInt(p.DecideBy, 36) + "-" + strconv.FormatInt(p.Number, 36)
}

func parsePlace(token string) (p runstore.Place, err error) {
	if token == "" {
		return p, nil
	}
	by, number, _ := strings.Cut(token, "-")
	if p.DecideBy, err = strconv.ParseInt(by, 36, 64); err == nil {
		p.Number, err = strconv.ParseInt(number, 36, 64)
	}
	if err != nil || p.DecideBy < 0 || p.Number < 0 {
		return p, unknownToken(token)
	}
	return p, nil
}
