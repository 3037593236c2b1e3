package main

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/sdk"
)

type reportIn struct {
	Text     string `json:"text" jsonschema:"the report"`
	Stations int    `json:"stations,omitempty" jsonschema:"how many stations it is sent to" default:"3" minimum:"1" maximum:"10000"`
}

func reportTool() sdk.Tool {
	return sdk.Object(sdk.Spec{
		Name:             "report",
		Description:      "Sends a report on the weather to radio stations, one after the other. Use it when a report is finished, once.",
		PartialArguments: true,
	}, func(context.Context) (*report, error) { return &report{}, nil })
}

// report serves one call.
type report struct{}

// Partial receives the arguments that the model has generated so far.
func (*report) Partial(ctx context.Context, soFar reportIn) {
	if soFar.Text != "" {
		sdk.ReportStatus(ctx, sdk.Status{Message: "so far: " + soFar.Text})
	}
}

// Call executes the call once the arguments are complete.
func (*report) Call(ctx context.Context, in reportIn) (string, error) {
	for station := range in.Stations {
		sdk.ReportProgress(ctx, float64(station+1), float64(in.Stations), "")
		select {
		case <-ctx.Done(): // canceled or timed out
			return "", ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Sprintf("%d letters sent to %d stations", utf8.RuneCountInString(in.Text), in.Stations), nil
}
