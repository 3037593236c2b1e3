package boundary_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/testkit/agentmessages"
	"github.com/toolhost/toolhost/tool"
)

// person starts the run, watches it and answers its decisions. It continues however often agentd is
// killed. Its answers depend only on the question, so that repeated runs are comparable.
type person struct {
	t          *testing.T
	client     *agentmessages.Client
	session    string
	askOutcome bool
	events     []*agentdv1.RunEvent // the durable events, in order
	// The system tools that the run offers to the model; nil means agentd's default.
	system []string
	schema string // of the answer; empty: the answer is text
	agent  string // the named agent; empty: none
	// late is a message with an attachment that the person sends before the first approval of the run.
	// Empty: none.
	late string
	// standing returns which later calls the person approves together with a call; nil: none. A nil
	// function means none.
	standing func(wanted *agentdv1.PendingDecision) *agentdv1.StandingChoice
	// approved are the arguments of the calls that the person was asked to approve.
	approved map[string]bool

	// seen receives each durable event before the person answers its decisions. An error ends
	// follow. nil means no function.
	seen func(*agentdv1.RunEvent) error
}

// pause is the time between two attempts while agentd restarts.
const pause = 10 * time.Millisecond

func newPerson(t *testing.T, addr, session string, askOutcome bool) *person {
	t.Helper()
	c, err := agentmessages.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &person{t: t, client: c, session: session, askOutcome: askOutcome, approved: make(map[string]bool)}
}

// insist repeats try while agentd does not answer, until ctx ends. It returns any other error.
func (p *person) insist(ctx context.Context, try func() error) error {
	for {
		err := try()
		if kind := tool.KindOf(err); err == nil || kind != tool.KindUnavailable && kind != tool.KindOutcomeUnknown && kind != tool.KindCancelled {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %w", err)
		}
	}
}

// picture returns an image that goes with the prompt. It is larger than a part of a content in the
// journal.
var picture = sync.OnceValue(func() []byte {
	noise := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, 520, 520))
	for i := range img.Pix {
		img.Pix[i] = byte(noise.Uint32())
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err) // the buffer takes everything
	}
	return out.Bytes()
})

// start begins the run.
func (p *person) start(ctx context.Context) error {
	request := &agentdv1.StartRunRequest{
		Prompt: "keep count", RunId: "r", Session: p.session,
		Attachments: []*agentdv1.Attachment{{Name: "count.png", MimeType: "image/png", Content: &agentdv1.Attachment_Data{Data: picture()}}},
		// The test keeps the journal and must be able to use it later, so the expiry is far away.
		People: &agentdv1.People{Attended: true, AskOutcome: p.askOutcome, Expiry: durationpb.New(100 * 365 * 24 * time.Hour)},
	}
	if p.schema != "" {
		request.ResponseSchema = []byte(p.schema)
	}
	if p.agent != "" {
		request.Agent, request.Context = p.agent, map[string][]byte{"team": []byte(`"blue"`)}
	}
	if p.system != nil {
		request.SystemTools = &agentdv1.SystemTools{Names: p.system}
	}
	return p.insist(ctx, func() error {
		_, err := p.client.StartRun(ctx, request)
		return err
	})
}

// follow watches the run to its end and answers its decisions. It checks that each durable event
// arrives exactly once and in order.
func (p *person) follow(ctx context.Context) error {
	return p.insist(ctx, func() error {
		for e, err := range p.client.WatchRun(ctx, "r", uint64(len(p.events))) {
			if err != nil {
				return err
			}
			if e.GetIndex() > 0 {
				continue
			}
			if e.GetSeq() != uint64(len(p.events))+1 {
				return fmt.Errorf("event %d comes after %d", e.GetSeq(), len(p.events))
			}
			if p.seen != nil {
				if err := p.seen(e); err != nil {
					return err
				}
			}
			if wanted := e.GetDecisionRequested(); wanted != nil {
				if err := p.decide(ctx, wanted.GetDecision()); err != nil {
					return err
				}
			}
			for _, id := range e.GetSubRunWaiting().GetDecisionIds() {
				if err := p.answer(ctx, id); err != nil {
					return err
				}
			}
			p.events = append(p.events, e)
		}
		if p.end() == nil {
			return tool.Errorf(tool.KindUnavailable, "the watch ended before the run")
		}
		return nil
	})
}

// remember reads the run again from its first event. The journal must contain exactly the events
// that the watcher has received.
func (p *person) remember(ctx context.Context) error {
	var events []*agentdv1.RunEvent
	err := p.insist(ctx, func() error {
		events = nil
		for e, err := range p.client.WatchRun(ctx, "r", 0) {
			if err != nil {
				return err
			}
			if e.GetIndex() == 0 {
				events = append(events, e)
			}
		}
		return nil
	})
	if diff := cmp.Diff(p.events, events, protocmp.Transform()); err == nil && diff != "" {
		p.t.Errorf("the journal has other events than the watcher was shown:\n%s", diff)
	}
	return err
}

func (p *person) decide(ctx context.Context, wanted *agentdv1.PendingDecision) error {
	d := &agentdv1.Decision{DecisionId: wanted.GetDecisionId()}
	arguments := p.argumentsOf(wanted.GetCallId())
	if arguments == "" { // of a sub-run
		arguments = string(wanted.GetArguments())
	}
	if wanted.GetKind() == agentdv1.DecisionKind_DECISION_KIND_APPROVAL {
		p.approved[arguments] = true
		if p.late != "" && wanted.GetRunId() == "" {
			if err := p.remind(ctx); err != nil {
				return err
			}
		}
	}
	switch {
	case wanted.GetKind() == agentdv1.DecisionKind_DECISION_KIND_TOOL:
		d.Verdict = &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: `{"color":"blue","count":3}`}}
	case wanted.GetKind() == agentdv1.DecisionKind_DECISION_KIND_OUTCOME:
		d.Verdict = &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: outcomeAnswer}}
	case wanted.GetKind() == agentdv1.DecisionKind_DECISION_KIND_QUESTION:
		d.Verdict = &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: "Rome"}}
	case strings.Contains(arguments, "edit"):
		d.Verdict = &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Arguments: []byte(strings.Replace(arguments, "edit", "edited", 1))}}
	case strings.Contains(arguments, "reject"):
		d.Verdict = &agentdv1.Decision_Reject{Reject: &agentdv1.Reject{Reason: "keep it"}}
	default:
		approve := &agentdv1.Approve{Reason: "go on"}
		if p.standing != nil {
			approve.Standing = p.standing(wanted)
		}
		d.Verdict = &agentdv1.Decision_Approve{Approve: approve}
	}
	err := p.insist(ctx, func() error {
		_, err := p.client.Respond(ctx, "r", "ann", d)
		return err
	})
	if tool.KindOf(err) == tool.KindNotFound {
		return nil // agentd had recorded the decision before it died
	}
	return err
}

// answer makes a decision of a sub-run, at the top run.
func (p *person) answer(ctx context.Context, decision string) error {
	var run *agentdv1.Run
	err := p.insist(ctx, func() (err error) {
		run, err = p.client.GetRun(ctx, "r")
		return err
	})
	for _, wanted := range run.GetPendingDecisions() {
		if err == nil && wanted.GetDecisionId() == decision {
			return p.decide(ctx, wanted)
		}
	}
	return err // without an error, agentd had recorded the decision before it died
}

// remind sends the message, unless the run has it. agentd may have recorded it before it died.
func (p *person) remind(ctx context.Context) error {
	return p.insist(ctx, func() error {
		run, err := p.client.GetRun(ctx, "r")
		if err != nil {
			return err
		}
		for e, err := range p.client.WatchRun(ctx, "r", 0) {
			if err != nil || e.GetUserMessage() != nil {
				return err
			}
			if e.GetSeq() >= run.GetLastSeq() {
				break
			}
		}
		_, err = p.client.SendMessage(ctx, "r", p.late, &agentdv1.Attachment{
			Name: "late.png", MimeType: "image/png", Content: &agentdv1.Attachment_Data{Data: picture()},
		})
		return err
	})
}

// argumentsOf returns the arguments that the model wrote for a call.
func (p *person) argumentsOf(callID string) string {
	for _, e := range p.events {
		for _, call := range e.GetAssistantMessage().GetCalls() {
			if call.GetCallId() == callID {
				return string(call.GetArguments())
			}
		}
	}
	return ""
}

// outcomeAnswer is the person's answer to the question how a call ended.
const outcomeAnswer = "nobody saw it"

// end returns the last event of the run, or nil if the run has not ended.
func (p *person) end() *agentdv1.RunFinished {
	if len(p.events) == 0 {
		return nil
	}
	return p.events[len(p.events)-1].GetRunFinished()
}

// results returns the run's results by call id. It checks that no call has two results.
func (p *person) results() map[string]*agentdv1.CallResult {
	p.t.Helper()
	results := make(map[string]*agentdv1.CallResult)
	for _, e := range p.events {
		if r := e.GetCallResult(); r != nil {
			if results[r.GetCallId()] != nil {
				p.t.Errorf("call %s has two results", r.GetCallId())
			}
			results[r.GetCallId()] = r
		}
	}
	return results
}
