package hostserver_test

import (
	"testing"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// outcome starts a call for which the caller requests only the outcome. The outcome exceeds the
// credit.
func (w *wire) outcome(number uint32) {
	w.t.Helper()
	w.send(&toolhostv1.ConnectRequest{Call: number, Frame: &toolhostv1.ConnectRequest_Start{Start: &toolhostv1.StartCall{
		Tool: "large", Arguments: []byte(`{"bytes":1000000,"kind":"text"}`), Complete: true,
		Options: &toolhostv1.CallOptions{OutcomeOnly: true},
	}}})
}

// chunks reads what a call sends until its credit is used.
func (w *wire) chunks(number uint32) (size int) {
	w.t.Helper()
	for size < hostpb.Window {
		resp := w.recv()
		if resp.GetCall() != number || resp.GetEvent().GetChunk() == nil {
			w.t.Fatalf("%v came, want chunks of call %d", resp, number)
		}
		size += len(resp.GetEvent().GetChunk().GetData())
	}
	return size
}

func TestAnOutcomeLargerThanItsCreditWaitsForMore(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	w.outcome(1)
	w.chunks(1)
	w.start(2, "echo", `{"text":"x"}`, true)
	w.endedWithText(2, "x") // a waiting call does not block others
	w.grant(1, 2_000_000)
	if e := w.ended(1); e.GetResult() == nil {
		t.Errorf("the call ended with %v, want its result", e)
	}
}

func TestACallThatIsGivenUpWhileItsOutcomeIsSentEnds(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	w.outcome(1)
	w.chunks(1)
	w.append(1, "x")
	w.endedWith(1, invalid)
	w.start(1, "echo", `{"text":"x"}`, true)
	w.endedWithText(1, "x")
}
