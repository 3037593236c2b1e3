package pluginwire_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

func settlementFrame(call uint32, s *pluginv1.Settlement) *pluginv1.ConnectResponse {
	end := &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Settlement{Settlement: s}}
	return &pluginv1.ConnectResponse{Call: call, Frame: &pluginv1.ConnectResponse_End{End: end}}
}

// A plugin is asked what became of a call with the whole arguments, and only a valid answer about
// that call counts.
func TestSettlementsOfTheWire(t *testing.T) {
	const happened, didNot = pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_HAPPENED, pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_DID_NOT_HAPPEN
	arguments := []byte(`"` + strings.Repeat("x", 200<<10) + `"`)
	result := &toolv1.Result{Content: []*toolv1.Content{textBlock("paid")}}
	paid := tool.TextResult("paid")
	for name, test := range map[string]struct {
		executes bool // the call is no question
		answer   func(call uint32) *pluginv1.ConnectResponse
		want     *tool.Settlement
		refused  string
	}{
		"happened": {
			answer: func(c uint32) *pluginv1.ConnectResponse {
				return settlementFrame(c, &pluginv1.Settlement{CallId: "c1", Verdict: happened, Result: result, Reason: "booked"})
			},
			want: &tool.Settlement{Verdict: tool.VerdictHappened, Result: &paid, Reason: "booked"},
		},
		"happened without a result": {
			answer: func(c uint32) *pluginv1.ConnectResponse {
				return settlementFrame(c, &pluginv1.Settlement{CallId: "c1", Verdict: happened})
			},
			want: &tool.Settlement{Verdict: tool.VerdictHappened},
		},
		"did not happen": {
			answer: func(c uint32) *pluginv1.ConnectResponse {
				return settlementFrame(c, &pluginv1.Settlement{CallId: "c1", Verdict: didNot, Result: result})
			},
			want: &tool.Settlement{Verdict: tool.VerdictDidNotHappen},
		},
		"unknown": {
			answer: func(c uint32) *pluginv1.ConnectResponse {
				return settlementFrame(c, &pluginv1.Settlement{CallId: "c1", Verdict: 77, Reason: strings.Repeat("x", 2<<10)})
			},
			want: &tool.Settlement{Verdict: tool.VerdictUnknown, Reason: strings.Repeat("x", 1<<10) + "…"},
		},
		"another call": {
			answer: func(c uint32) *pluginv1.ConnectResponse {
				return settlementFrame(c, &pluginv1.Settlement{CallId: "c2", Verdict: didNot})
			},
			refused: "another call",
		},
		"a result in its place": {
			answer:  func(c uint32) *pluginv1.ConnectResponse { return endOf(c, "paid") },
			refused: "answered with a result",
		},
		"a broken result": {
			answer: func(c uint32) *pluginv1.ConnectResponse {
				broken := &toolv1.Result{Content: []*toolv1.Content{{Block: &toolv1.Content_Json{Json: []byte("{")}}}}
				return settlementFrame(c, &pluginv1.Settlement{CallId: "c1", Verdict: happened, Result: broken})
			},
			refused: "no JSON",
		},
		"not asked": {
			executes: true,
			answer: func(c uint32) *pluginv1.ConnectResponse {
				return settlementFrame(c, &pluginv1.Settlement{CallId: "c1", Verdict: happened})
			},
			refused: "was to execute it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan *pluginv1.StartCall, 1)
			conn := openRaw(t, pluginwire.ConnConfig{}, func(stream rawStream) error {
				for {
					frame, err := stream.Recv()
					if err != nil {
						return nil
					}
					if start := frame.GetStart(); start != nil {
						started <- start
						if err := stream.Send(test.answer(frame.GetCall())); err != nil {
							return err
						}
					}
				}
			})
			call, err := conn.Start(t.Context(), pluginwire.Start{CallID: "c1", Tool: "pay", Arguments: arguments, Complete: true, Settle: !test.executes})
			if err != nil {
				t.Fatal(err)
			}
			defer call.Close()
			ev, err := call.Next(t.Context())
			if err != nil || ev.Ended == nil {
				t.Fatalf("got %+v, %v", ev, err)
			}
			if start := <-started; !test.executes && (!start.GetSettle() || !start.GetComplete() || !bytes.Equal(start.GetArguments(), arguments)) {
				t.Errorf("the plugin was asked with settle %v, complete %v, and %d bytes of arguments", start.GetSettle(), start.GetComplete(), len(start.GetArguments()))
			}
			if test.refused != "" {
				if ev.Ended.Err == nil || ev.Ended.Err.Kind != tool.KindInternal || !strings.Contains(ev.Ended.Err.Message, test.refused) || ev.Ended.Settled != nil {
					t.Errorf("got %+v, want an error with %q", ev.Ended, test.refused)
				}
				return
			}
			if diff := cmp.Diff(&tool.Outcome{CallID: "c1", Settled: test.want}, ev.Ended); diff != "" {
				t.Errorf("the outcome (-want +got):\n%s", diff)
			}
		})
	}
}
