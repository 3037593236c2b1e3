package sdk_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// stuckCall is a call whose receiver does not read.
type stuckCall struct {
	benchCall
	entered chan struct{}
}

func (s stuckCall) Send(ctx context.Context, _ tool.Event) error {
	select {
	case s.entered <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

// A receiver that does not read blocks a tool only until the call ends, even if the tool reports
// with a context that outlives the call.
func TestReportsEndWithTheCall(t *testing.T) {
	for name, report := range map[string]func(ctx context.Context){
		"a status":                        func(ctx context.Context) { sdk.ReportStatus(ctx, sdk.Status{Message: "x"}) },
		"a status without the call's end": func(ctx context.Context) { sdk.ReportProgress(context.WithoutCancel(ctx), 1, 2, "x") },
		"a log record":                    func(ctx context.Context) { sdk.Logger(ctx).Debug("a line of this test: nobody took it, so it is here") },
		"two at once": func(ctx context.Context) {
			done := make(chan struct{})
			go func() { defer close(done); sdk.ReportStatus(ctx, sdk.Status{Message: "x"}) }()
			sdk.ReportStatus(ctx, sdk.Status{Message: "y"})
			<-done
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, err := transport.NewHandler(pluginOf(func(ctx context.Context, _ struct{}) (string, error) {
					report(ctx)
					return "", ctx.Err()
				}), nil)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				stuck := stuckCall{benchCall(`{}`), make(chan struct{}, 1)}
				ended := make(chan error)
				go func() {
					_, err := server.Call(ctx, transport.Info{CallID: "1", Tool: "x"}, stuck)
					ended <- err
				}()
				<-stuck.entered
				cancel()
				if err := <-ended; tool.KindOf(err) != tool.KindCancelled {
					t.Errorf("got %v, want kind cancelled", err)
				}
			})
		})
	}
}
