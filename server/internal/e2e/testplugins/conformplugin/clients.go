package main

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

// clients are the tools that the tests call with the official clients of MCP.
func clients() []sdk.Tool {
	var calls, canceled atomic.Int64
	return []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "sum", Description: "Adds.", ReadOnly: true}, func(_ context.Context, in terms) (total, error) {
			return total{Sum: in.A + in.B}, nil
		}),
		sdk.Func(sdk.Spec{Name: "steps", Description: "Reports progress.", ReadOnly: true}, func(ctx context.Context, _ struct{}) (string, error) {
			for i := range 3 {
				sdk.ReportProgress(ctx, float64(i+1), 3, "a step")
				time.Sleep(20 * time.Millisecond) // statuses in quick succession are folded
			}
			return "done", nil
		}),
		sdk.Func(sdk.Spec{Name: "wait", Description: "Waits until it is canceled.", ReadOnly: true}, func(ctx context.Context, _ struct{}) (string, error) {
			sdk.ReportProgress(ctx, 1, 2, "waiting")
			<-ctx.Done()
			canceled.Add(1)
			return "", ctx.Err()
		}),
		sdk.Func(sdk.Spec{Name: "canceled", Description: "Counts the canceled calls of wait.", ReadOnly: true}, func(context.Context, struct{}) (count, error) {
			return count{Count: canceled.Load()}, nil
		}),
		sdk.Func(sdk.Spec{Name: "counted", Description: "Counts its executions."}, func(context.Context, struct{}) (count, error) {
			return count{Count: calls.Add(1)}, nil
		}),
		sdk.Func(sdk.Spec{Name: "large", Description: "Returns 600,000 bytes.", ReadOnly: true}, func(context.Context, struct{}) (string, error) {
			return strings.Repeat("0123456789", 60_000), nil
		}),
		sdk.Func(sdk.Spec{Name: "guarded", Description: "Needs an approval.", Dangerous: true}, func(_ context.Context, in secret) (string, error) {
			return "guarded: " + in.What, nil
		}),
	}
}

type terms struct {
	A int `json:"a"`
	B int `json:"b"`
}

type total struct {
	Sum int `json:"sum"`
}

type count struct {
	Count int64 `json:"count"`
}

type secret struct {
	What string `json:"what"`
}
