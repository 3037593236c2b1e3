package client

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/tool"
)

// TestEveryRunEventHasAType checks that the client converts every event that agentd.v1 defines.
func TestEveryRunEventHasAType(t *testing.T) {
	m := &agentdv1.RunEvent{}
	kinds := m.ProtoReflect().Descriptor().Oneofs().ByName("event").Fields()
	for i := range kinds.Len() {
		m.ProtoReflect().Set(kinds.Get(i), protoreflect.ValueOfMessage(m.ProtoReflect().NewField(kinds.Get(i)).Message()))
		if toRunEvent(m).Payload == nil {
			t.Errorf("%s has no type", kinds.Get(i).Name())
		}
	}
}

// TestNamesOfEnumerations checks that the constants of this package are the names of agentd.v1.
func TestNamesOfEnumerations(t *testing.T) {
	for _, state := range []RunState{RunRunning, RunWaiting, RunInterrupted, RunFinished} {
		if _, err := fromRunFilter(RunFilter{States: []RunState{state}}); err != nil {
			t.Error(err)
		}
	}
	for _, kind := range []DecisionKind{DecideApproval, DecideQuestion, DecideOutcome, DecidePause} {
		if agentdv1.DecisionKind_value["DECISION_KIND_"+strings.ToUpper(string(kind))] == 0 {
			t.Errorf("agentd.v1 has no decision kind %q", kind)
		}
	}
	for _, verdict := range []Verdict{Approve, Reject, Answer, Expired} {
		if agentdv1.Verdict_value["VERDICT_"+strings.ToUpper(string(verdict))] == 0 {
			t.Errorf("agentd.v1 has no verdict %q", verdict)
		}
	}
	if got := toStopReason(agentdv1.StopReason_STOP_REASON_UNSPECIFIED); got != "" {
		t.Errorf("an unset stop reason is %q", got)
	}
}

// TestAStructuredAnswerIsConverted checks the fields of a run with a response schema.
func TestAStructuredAnswerIsConverted(t *testing.T) {
	schema, answer := `{"type":"object"}`, `{"n":1}`
	if got := fromTask(Task{ResponseSchema: []byte(schema)}).GetResponseSchema(); string(got) != schema {
		t.Errorf("the request has the schema %s", got)
	}
	started := toRunPayload(&agentdv1.RunEvent{Event: &agentdv1.RunEvent_RunStarted{RunStarted: &agentdv1.RunStarted{ResponseSchema: []byte(schema)}}})
	delta := toRunPayload(&agentdv1.RunEvent{Event: &agentdv1.RunEvent_AnswerDelta{AnswerDelta: &agentdv1.AnswerDelta{Answer: []byte(answer)}}})
	ended := toRunPayload(&agentdv1.RunEvent{Event: &agentdv1.RunEvent_RunFinished{RunFinished: &agentdv1.RunFinished{Result: []byte(answer)}}})
	if got := []string{string(started.(*RunStarted).ResponseSchema), string(delta.(*AnswerDelta).Answer), string(ended.(*RunEnded).Result)}; !slices.Equal(got, []string{schema, answer, answer}) {
		t.Errorf("got %q", got)
	}
}

func TestDecisionsNeedAVerdict(t *testing.T) {
	if _, err := fromDecisions([]Decision{{ID: "d1", Verdict: "maybe"}}); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("got %v", err)
	}
	if _, err := fromRunFilter(RunFilter{States: []RunState{"lost"}}); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("got %v", err)
	}
	if _, err := NewCall("t", io.Discard.Write); tool.KindOf(err) != tool.KindInvalidArgument || errors.Unwrap(err) == nil {
		t.Errorf("a function as arguments: %v", err)
	}
}
