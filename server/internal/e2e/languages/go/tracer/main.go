// Command tracer is a Go plugin of server/internal/e2e/languages. Its tool creates spans with
// OpenTelemetry's API, as an author does.
package main

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"github.com/toolhost/toolhost/sdk"
)

var tracer = otel.Tracer("author")

type in struct {
	Name string `json:"name"`
	Wait bool   `json:"wait,omitempty"` // until the call is canceled
}

func main() {
	sdk.Serve(sdk.Plugin{Name: "tracer_go", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "trace_go", Description: "Creates spans.", ReadOnly: true}, work),
	}})
}

func work(ctx context.Context, in in) (string, error) {
	trace(ctx, in.Name)
	if in.Wait {
		<-ctx.Done()
	}
	return "traced", ctx.Err()
}

func trace(ctx context.Context, name string) {
	ctx, span := tracer.Start(ctx, name+" outer")
	defer span.End()
	var steps sync.WaitGroup
	steps.Go(func() { // ends at once; trace waits
		_, step := tracer.Start(ctx, name+" inner")
		defer step.End()
		step.SetAttributes(attribute.String("language", "go"))
	})
	steps.Wait()
}
