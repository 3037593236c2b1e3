package eventlog_test

import (
	"slices"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/eventlog"
	"github.com/toolhost/toolhost/tool"
)

// A tenant with many events does not hide those of another tenant, nor those of all tenants.
func TestEventsOfTenants(t *testing.T) {
	log := eventlog.NewPlugins(10)
	log.Append(tool.PluginEvent{Plugin: "p"})
	log.Append(tool.PluginEvent{Plugin: "p", Instance: "p-1", Tenant: "blue"})
	log.Append(tool.PluginEvent{Plugin: "p", Instance: "p-2"})
	for range 1000 {
		log.Append(tool.PluginEvent{Plugin: "p", Instance: "p-3", Tenant: "red"})
	}
	numbers := func(after uint64) (all []uint64) {
		events, _ := log.After(after)
		for _, e := range events {
			all = append(all, e.Seq)
		}
		return all
	}
	for after, want := range map[uint64][]uint64{
		0: {1, 2, 3, 997, 998, 999, 1000, 1001, 1002, 1003}, 2: {3, 997, 998, 999, 1000, 1001, 1002, 1003},
		1002: {1003}, 1003: nil, 5000: {1, 2, 3, 997, 998, 999, 1000, 1001, 1002, 1003},
	} {
		if got := numbers(after); !slices.Equal(got, want) {
			t.Errorf("after %d are the events %d, want %d", after, got, want)
		}
	}
}
