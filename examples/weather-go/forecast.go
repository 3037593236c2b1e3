package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

type forecastIn struct {
	City string `json:"city" jsonschema:"the city's name, in English"`
	Days int    `json:"days,omitempty" jsonschema:"how many days ahead" default:"1" minimum:"1" maximum:"7"`
}

func forecastTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "forecast",
		Description: "Says what the weather in a city will be, one word for each day. It knows no past. Use it when a person plans to be outside.",
		ReadOnly:    true,
	}, forecast)
}

func forecast(_ context.Context, in forecastIn) (string, error) {
	weather, ok := map[string][]string{
		"Oslo":  {"rain", "rain", "snow", "sun", "snow", "snow", "rain"},
		"Lagos": {"sun", "rain", "sun", "sun", "sun", "rain", "sun"},
	}[in.City]
	if !ok {
		// The model reads the error, so it can ask for another city.
		return "", fmt.Errorf("there is no forecast for %q; there is one for Oslo and for Lagos", in.City)
	}
	return in.City + ": " + strings.Join(weather[:in.Days], ", "), nil
}
