package conformance_test

import (
	"slices"
	"testing"
)

// bareGoPlugin lists the checks that fail for a plugin that uses only go-plugin's server, as the
// fault plugin does: go-plugin accepts any version of the contract, and exits only on Shutdown. The
// fault plugin also accepts any tool name.
var bareGoPlugin = []string{"start.unknown_version", "stream.unknown_tool", "end.stream", "end.connection_lost", "end.no_stream"}

// TestFaults checks that each fault of the fault plugin fails the check for it, and no other.
func TestFaults(t *testing.T) {
	t.Parallel()
	var all []examination
	for _, e := range slices.Concat(faultsBeforeTheHandshake(), faultsOfTheHandshake()) {
		e.args = append([]string{"faultplugin"}, e.args...)
		all = append(all, e)
	}
	for _, e := range slices.Concat(faultsAtTheEnd(), faultsOfCalls()) {
		e.args, e.tool, e.want = append([]string{"faultplugin"}, e.args...), "fault", append(e.want, bareGoPlugin...)
		if e.call == "" {
			e.call = `{"do":"echo","text":"4711"}`
		}
		all = append(all, e)
	}
	examineAll(t, all)
}

func faultsBeforeTheHandshake() []examination {
	handshake := []string{"start.handshake"}
	return []examination{
		{name: "exits", args: []string{"-exit=3"}, want: handshake},
		{name: "panics", args: []string{"-panic=boom"}, want: handshake},
		{name: "exits in the middle", args: []string{"-exit=3", "-when=half"}, want: handshake},
		{name: "stops", args: []string{"-stop", "-hang"}, want: handshake, mute: true},
		{name: "says nothing", args: []string{"-hang"}, want: handshake, mute: true},
		{name: "noise", args: []string{"-stdout=hello"}, want: handshake},
		{name: "something else", args: []string{"-first=hello"}, want: handshake},
		{name: "an endless line", args: []string{"-unfinished=1048576", "-hang"}, want: handshake, mute: true},
		{name: "a question", args: []string{"-ask=Name? ", "-hang"}, want: handshake, mute: true},
	}
}

func faultsOfTheHandshake() []examination {
	return []examination{
		{name: "exits right after it", args: []string{"-exit=3", "-when=line"}, want: []string{"?start.listener", "?start.health", "?start.tls"}},
		{name: "exits when toolhost connects", args: []string{"-exit=3", "-when=connected"}, want: []string{"?start.listener", "?start.health", "?start.tls"}},
		{name: "another listens", args: []string{"-impostor"}, want: []string{"start.listener"}},
		{name: "answers nobody", args: []string{"-listen={dir}"}, want: []string{"start.health"}, hangs: true},
		{name: "is never ready", args: []string{"-health=silent"}, want: []string{"start.health"}, hangs: true},
		{name: "is not ready", args: []string{"-health=bad"}, want: []string{"start.health"}},
		{name: "another go-plugin", args: []string{"-first=2|1|unix|{dir}/s|grpc"}, want: []string{"start.fields"}},
		{name: "too short", args: []string{"-first=1|1|"}, want: []string{"start.fields"}},
		{name: "tcp", args: []string{"-first=1|1|tcp|127.0.0.1:1|grpc"}, want: []string{"start.fields"}},
		{name: "another version", args: []string{"-first=1|77|unix|{dir}/s|grpc"}, want: []string{"start.version", "start.socket"}},
		{name: "another folder", args: []string{"-first=1|1|unix|/tmp|grpc"}, want: []string{"start.socket"}},
		{name: "no socket", args: []string{"-first=1|1|unix|{dir}/s|grpc"}, want: []string{"start.socket"}},
		{name: "unsolicited certificate", args: []string{"-certificate=unsolicited"}, want: []string{"start.tls"}},
		{name: "padded certificate", args: []string{"-certificate=padded"}, want: []string{"start.tls"}},
		{name: "bad certificate", args: []string{"-certificate=bad"}, want: []string{"start.tls"}},
		{name: "announced TLS", args: []string{"-tls=announced"}, want: []string{"start.tls"}},
		{name: "silent TLS", args: []string{"-tls=silent"}, want: []string{"start.tls"}},
	}
}

func faultsAtTheEnd() []examination {
	return []examination{
		{name: "nothing"},
		{name: "noise that does no harm", args: []string{"-dribble", `-stderr={"@message": 1}`, "-flood=1000000"}},
		{name: "ignores its end", args: []string{"-ignore-shutdown", "-ignore-term"}, want: []string{"end.shutdown"}},
		{name: "exits with 3 at its end", args: []string{"-exit=3", "-when=end"}, want: []string{"end.shutdown"}},
		{name: "panics at its end", args: []string{"-panic=boom", "-when=end"}, want: []string{"end.shutdown"}},
		{name: "leaves a process", args: []string{"-spawn=session"}, want: []string{"end.processes"}},
	}
}

// faultsOfCalls returns the faults of calls. It omits faults that only the limits of a process
// bound, such as using up memory or descriptors, because the contract does not regulate them.
func faultsOfCalls() []examination {
	executed := []string{"calls.executed"}
	deaf := []string{"calls.executed", "flow.deadline", "flow.cancel"}
	return []examination{
		{name: "exits in a call", call: `{"do":"exit","number":3}`, want: executed},
		{name: "panics in a call", call: `{"do":"crash","text":"boom"}`, want: executed},
		{name: "is killed in a call", call: `{"do":"kill","number":9}`, want: executed},
		{name: "stops in a call", call: `{"do":"stop"}`, want: executed, hangs: true},
		{name: "hangs in a call", call: `{"do":"hang"}`, want: executed, hangs: true},
		{name: "ignores the end of its time", call: `{"do":"ignore"}`, want: deaf, hangs: true},
		{name: "drips", call: `{"do":"drip"}`, want: executed, hangs: true},
		{name: "drips on", call: `{"do":"drip","text":"deaf"}`, want: deaf, hangs: true},
		{name: "cuts its connection", call: `{"do":"disconnect"}`, want: executed},
		{name: "starts a process", call: `{"do":"spawn","text":"session"}`, want: []string{"end.processes"}},
		{name: "starts many", call: `{"do":"fork","number":3}`, want: []string{"end.processes"}},
		{name: "prints", call: `{"do":"print","text":"4711"}`},
		{name: "prints a long line", call: `{"do":"long_line","number":1048576}`},
		{name: "answers at length", call: `{"do":"large","text":"text","number":300000}`},
	}
}
