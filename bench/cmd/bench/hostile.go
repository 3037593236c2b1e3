package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/bench/internal/work"
	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// misbehave is the hostile tenant: it makes calls of each kind until the process is killed. Errors
// do not matter, because most calls are refused or fail. kinds names the kinds, separated by
// commas; empty: all.
func misbehave(ctx context.Context, address, kinds string) error {
	most := 1_000_000 // the largest size that the rules of the benchmark permit
	none := []byte("{}")
	var all sync.WaitGroup
	for _, kind := range []struct {
		callers int
		name    string
		call    tool.Call
	}{
		{16, "flood", tool.Call{Tool: "echo", Arguments: work.Arguments(work.Small)}},
		{8, "huge", tool.Call{Tool: "echo", Arguments: work.Arguments(most), MaxShown: &most}},
		{4, "artifacts", tool.Call{Tool: "echo", Arguments: work.Arguments(most)}},
		{8, "hung", tool.Call{Tool: "hang", Arguments: none, Timeout: 500 * time.Millisecond}},
		{2, "crashes", tool.Call{Tool: "crash", Arguments: none}},
		{4, "full", tool.Call{Tool: "echo", Arguments: work.Arguments(work.Small)}},
	} {
		if kinds != "" && !slices.Contains(strings.Split(kinds, ","), kind.name) {
			continue
		}
		c, err := client.Dial(address)
		if err != nil {
			return err
		}
		red := client.OnBehalfOf(ctx, client.Principal{Tenant: "red", Name: kind.name})
		for range kind.callers {
			all.Go(func() { // ends with the process
				for ctx.Err() == nil {
					_, _ = c.Call(red, kind.call)
				}
			})
		}
	}
	all.Wait()
	return nil
}
