// Package hosttest is the conformance suite of a toolhost; see Run. It tests the host itself, and
// the host behind its gRPC server and the Go client. So both behave the same.
//
// The suite needs a host with one plugin, PluginName, that has the tools of Tools, and that may ask
// persons and models. New returns such a host for any test: its plugin runs in the process of the
// test.
package hosttest

import (
	"context"
	"iter"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// Host is the interface of a toolhost, directly or through its API.
type Host interface {
	Finder
	Caller
	Admin
}

// Finder searches and renders tools.
type Finder interface {
	SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error)
	RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error)
}

// Caller lists and calls tools.
type Caller interface {
	ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error)
	GetTool(ctx context.Context, name string, viewer tool.Viewer) (tool.Info, error)
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
	WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error]
	CancelCall(ctx context.Context, key tool.CallKey, reason string) error
	AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error
	ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error)
	LedgerID() string // a client knows it after ListTools
}

// Admin shows and operates plugins.
type Admin interface {
	Plugins(ctx context.Context) ([]tool.PluginInfo, error)
	Instances(ctx context.Context, plugin string) ([]tool.InstanceInfo, error)
	Restart(ctx context.Context, plugin, reason string, force bool) (tool.Restarted, error)
	Drain(ctx context.Context, plugin, reason string) error
	Pause(ctx context.Context, plugin, reason string) error
	Resume(ctx context.Context, plugin string) error
	ClearQuarantine(ctx context.Context, plugin string) error
	Reload(ctx context.Context) (tool.Reloaded, error)
	ReloadPlugins(ctx context.Context) (tool.Reloaded, error)
	DiffConfiguration(ctx context.Context) (tool.ConfigurationChange, error)
	Upgrade(ctx context.Context, plugin, reason string) (tool.Upgraded, error)
	Rollback(ctx context.Context, plugin string, revision uint64, reason string) (tool.Upgraded, error)
	Revisions(ctx context.Context, plugin string) ([]tool.Revision, error)
	Observer
}

// Observer returns the events, logs and statistics of plugins. With Follow set in its query, a
// stream ends when the host stops, otherwise after the last stored item. It then ends without an
// error. When ctx ends, its last item is an error.
type Observer interface {
	WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error]
	TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error]
	Stats(ctx context.Context, q tool.StatsQuery) ([]tool.Stats, error)
	Calls(ctx context.Context, q tool.CallQuery) (tool.CallPage, error)
}

// suite has the tests of every host.
var suite = []struct {
	name string
	run  func(t *testing.T, h Host)
}{
	{"ListTools", testListTools},
	{"GetTool", testGetTool},
	{"SearchTools", testSearchTools},
	{"SearchFilters", testSearchFilters},
	{"RenderTools", testRenderTools},
	{"RenderFilters", testRenderFilters},
	{"Plugins", testPlugins},
	{"Restart", testRestart},
	{"RestartByForce", testRestartByForce},
	{"Drain", testDrain},
	{"Pause", testPause},
	{"OrdersAreExplained", testOrdersAreExplained},
	{"Clear", testClear},
	{"NothingToUpgrade", testNothingToUpgrade},
	{"WatchEvents", testWatchEvents},
	{"FollowEvents", testFollowEvents},
	{"TailLogs", testTailLogs},
	{"FollowLogs", testFollowLogs},
	{"Stats", testStats},
	{"Result", testResult},
	{"ToolError", testToolError},
	{"InfrastructureError", testInfrastructureError},
	{"BadCalls", testBadCalls},
	{"Approval", testApproval},
	{"CallContext", testCallContext},
	{"Events", testEvents},
	{"OutcomeOnly", testOutcomeOnly},
	{"LargeResults", testLargeResults},
	{"Artifact", testArtifact},
	{"ArtifactBudget", testArtifactBudget},
	{"ArtifactReplay", testArtifactReplay},
	{"ArtifactOfAnotherSession", testArtifactOfAnotherSession},
	{"ArtifactFromToolToTool", testArtifactFromToolToTool},
	{"Replay", testReplay},
	{"Join", testJoin},
	{"Conflict", testConflict},
	{"AnotherLedger", testAnotherLedger},
	{"PartialArguments", testPartialArguments},
	{"PartialArgumentsOfAnyTool", testPartialArgumentsOfAnyTool},
	{"Abandon", testAbandon},
	{"Cancel", testCancel},
	{"CancelBeforeComplete", testCancelBeforeComplete},
	{"Deadline", testDeadline},
	{"CloseCancelsANamelessCall", testCloseCancelsANamelessCall},
	{"CloseLeavesANamedCall", testCloseLeavesANamedCall},
	{"NextIsCancellable", testNextIsCancellable},
	{"ManyCallsAtOnce", testManyCallsAtOnce},
	{"SlowConsumer", testSlowConsumer},
	{"WatchCall", testWatchCall},
	{"ComeBack", testComeBack},
	{"WatchOfNothing", testWatchOfNothing},
	{"CancelCall", testCancelCall},
	{"ListCalls", testListCalls},
	{"AskPerson", testAskPerson},
	{"AskModel", testAskModel},
	{"AskWithoutCaller", testAskWithoutCaller},
	{"AnswerNothing", testAnswerNothing},
}

// Run runs the suite. open returns a new host that has the tools of Tools and no other plugin, and
// closes the host with t.Cleanup. Each test gets a host.
func Run(t *testing.T, open func(t *testing.T) Host) {
	for _, test := range suite {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}
