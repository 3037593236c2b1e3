// Command filterplugin is a plugin for tests that has filters and no tools. One filter removes keys
// from results, one refuses calls whose arguments contain a key, and one ends the process when
// toolhost calls it.
//
// The tests decide which calls the filters apply to. No shipped program imports it.
package main

import (
	"context"
	"os"
	"regexp"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	sdk.Serve(sdk.Plugin{Name: "filterplugin", Version: "1.0.0", Description: "Filters for tests.", Filters: []sdk.Filter{
		{Name: "redact", Description: "Keeps keys out of results.", After: redact},
		{Name: "discreet", Description: "Refuses arguments that hold a key.", Before: refuse},
		{Name: "fragile", Description: "Ends the process.", After: func(context.Context, *sdk.FilterCall) error { os.Exit(7); return nil }},
	}})
}

// key matches texts that look like a key.
func key() *regexp.Regexp { return regexp.MustCompile(`sk-[0-9a-z]+`) }

func redact(_ context.Context, c *sdk.FilterCall) error {
	found := false
	for i, block := range c.Result.Content {
		c.Result.Content[i].Text = key().ReplaceAllString(block.Text, "[removed]")
		c.Result.Content[i].JSON = key().ReplaceAll(block.JSON, []byte("[removed]"))
		found = found || key().MatchString(block.Text) || key().Match(block.JSON)
	}
	if found {
		c.SetResult(c.Result)
	}
	return nil
}

func refuse(_ context.Context, c *sdk.FilterCall) error {
	if key().Match(c.Arguments) {
		c.Deny("a key must not be in the arguments")
	}
	return nil
}
