//go:build !race

package hostpb_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// wordy returns n plugins whose last processes wrote as much as is stored.
func wordy(n, lines, size int) []tool.PluginInfo {
	var plugins []tool.PluginInfo
	for i := range n {
		exit := tool.Exit{Code: 2}
		if lines > 1 {
			exit.LastStderr = append(exit.LastStderr, "panic: the reason")
		}
		for range lines - 2 {
			exit.LastStderr = append(exit.LastStderr, strings.Repeat("x", size))
		}
		exit.LastStderr = append(exit.LastStderr, "the last line")
		p := tool.PluginInfo{Name: fmt.Sprintf("p%d", i), LastExit: &exit}
		for range 10 {
			p.RecentExits = append(p.RecentExits, tool.PluginExit{Instance: "i", Exit: exit})
		}
		plugins = append(plugins, p)
	}
	return plugins
}

// The list of plugins fits into a message however much their processes wrote before they crashed.
func TestPluginsFitAMessage(t *testing.T) {
	for _, test := range []struct {
		plugins int
		lines   int    // lines that each process wrote
		exits   int    // exits of each plugin that the message contains
		last    string // the last line of the output of each plugin
	}{
		{1, 50, 10, "the last line"},
		{100, 50, 10, "the last line"},
		{500, 5, 10, "the last line"},
		{40_000, 1, 0, ""},
	} {
		resp := hostpb.FromPlugins(wordy(test.plugins, test.lines, 8<<10))
		if size := proto.Size(resp); size > hostpb.MaxMessageBytes {
			t.Errorf("%d plugins take %d bytes", test.plugins, size)
		}
		if len(resp.GetPlugins()) != test.plugins {
			t.Errorf("%d of %d plugins are left", len(resp.GetPlugins()), test.plugins)
		}
		p := hostpb.ToPlugin(resp.GetPlugins()[test.plugins-1])
		lastLine := ""
		if lines := p.LastExit.LastStderr; len(lines) > 0 {
			lastLine = lines[len(lines)-1]
		}
		if lastLine != test.last || len(p.RecentExits) != test.exits || p.LastExit.Code != 2 {
			t.Errorf("of %d plugins, one has %d exits and said %q", test.plugins, len(p.RecentExits), lastLine)
		}
		for _, e := range p.RecentExits {
			if got := crashoutput.Reason(e.Exit.LastStderr); test.plugins < 500 && got != "panic: the reason" {
				t.Errorf("of %d plugins, what one says of its end is %q", test.plugins, got)
			}
		}
	}
	few := wordy(3, 5, 100)
	resp := hostpb.FromPlugins(few)
	if got := hostpb.ToPlugin(resp.GetPlugins()[2]); len(got.LastExit.LastStderr) != 5 || len(got.RecentExits[9].Exit.LastStderr) != 5 {
		t.Errorf("words were left out of %+v", got)
	}
}
