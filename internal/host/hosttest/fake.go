package hosttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Fake is a host in memory that runs tools in the present process. All methods are safe for
// concurrent use. Use NewFake to make one.
type Fake struct {
	fakeTools
	fakeArtifacts
	FakeOffers
	Shared *tool.Folders // what Folders returns; set before the first use

	stop  context.CancelCauseFunc
	ctx   context.Context // the parent of all executions; ends with Close
	tasks sync.WaitGroup  // one goroutine for each execution

	mutex    sync.Mutex
	closed   bool
	opened   []tool.Call
	ledger   map[ledgerKey]*execution
	minted   int
	instance int  // the number of the newest instance; 0: none
	running  bool // there is an instance
	paused   bool
	launches uint64
	started  time.Time
	exits    []tool.PluginExit // the newest first
	stats    map[string]*tool.Stats

	events *feed[tool.PluginEvent]
	lines  *feed[tool.LogLine]
}

type ledgerKey struct{ principal, session, id string }

// NewFake returns a host with one plugin, PluginName, that has the given tools. The caller must
// close it.
func NewFake(tools ...Tool) *Fake {
	ctx, stop := context.WithCancelCause(context.Background())
	f := &Fake{
		ctx: ctx, stop: stop, ledger: map[ledgerKey]*execution{}, stats: map[string]*tool.Stats{},
		events: newFeed[tool.PluginEvent](), lines: newFeed[tool.LogLine](),
	}
	f.SetTools(tools...)
	return f
}

// Close cancels all calls and waits for them.
func (f *Fake) Close() {
	f.mutex.Lock()
	f.closed = true
	f.mutex.Unlock()
	f.stop(tool.Errorf(tool.KindCancelled, "the host is shutting down"))
	f.tasks.Wait()
}

// Opened returns the calls that callers have opened, in order, with the arguments of the beginning.
func (f *Fake) Opened() []tool.Call {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.Clone(f.opened)
}

// LedgerID returns the id of the fake's ledger. Each fake has another one.
func (f *Fake) LedgerID() string { return fmt.Sprintf("fake-%p", f) }

// Folders returns Shared, or three folders that do not exist.
func (f *Fake) Folders() tool.Folders {
	if f.Shared != nil {
		return *f.Shared
	}
	return tool.Folders{
		Workspace: "/fake/workspace", Writable: []string{"/fake/workspace", "/fake/other"}, Hidden: []string{"/fake/other/state"},
	}
}

func sha256Of(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func approved(call tool.Call, digest string) bool {
	a := call.Approval
	return a != nil && (!a.Named() || a.ArgumentsSHA256 == digest || sha256Of(a.Arguments) == digest)
}

// Open opens a call.
func (f *Fake) Open(_ context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	for _, id := range []string{call.ID, call.Session} {
		if err := tool.CheckID(id); id != "" && err != nil {
			return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
		}
	}
	if call.Ledger != "" && call.Ledger != f.LedgerID() {
		err := tool.Errorf(tool.KindOutcomeUnknown, "the call was sent to the ledger %q first, and this is %q", call.Ledger, f.LedgerID())
		err.CallID = call.ID
		return nil, err
	}
	t, err := f.tool(call.Tool)
	if err != nil {
		return nil, err
	}
	if digest := sha256Of(call.Arguments); t.Spec.Dangerous && !approved(call, digest) {
		asked := tool.Errorf(tool.KindApprovalRequired, "the tool %q needs a person's approval", call.Tool)
		asked.Arguments, asked.ArgumentsSHA256 = call.Arguments, digest
		return nil, asked
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.closed {
		return nil, tool.Errorf(tool.KindUnavailable, "the host is shutting down")
	}
	if f.paused {
		return nil, tool.Errorf(tool.KindUnavailable, "the plugin %q is paused: an operator paused it", PluginName)
	}
	f.opened = append(f.opened, call)
	named := call.ID != ""
	if !named {
		f.minted++
		call.ID = fmt.Sprintf("fake-%d", f.minted)
	}
	e := newExecution(f, t, call)
	f.tasks.Go(e.run)
	h := &handle{execution: e, named: named, quiet: call.OutcomeOnly}
	if err := h.Send(context.Background(), call.Arguments, complete); err != nil {
		return nil, err
	}
	return h, nil
}

// claim adds an execution to the ledger, or returns the execution that already has its id.
func (f *Fake) claim(e *execution) (prior *execution) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	key := ledgerKey{e.call.Principal, e.call.Session, e.call.ID}
	if prior := f.ledger[key]; prior != nil {
		return prior
	}
	f.ledger[key] = e
	return nil
}

// place returns the instance of a call. It starts the instance if there is none.
func (f *Fake) place(callID string) *tool.Started {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.running {
		f.launch()
	}
	return &tool.Started{CallID: callID, Plugin: PluginName, Instance: f.instanceID(), Attempt: 1}
}

// check returns what is wrong with arguments as a message for the model; empty: nothing.
func check(schema, arguments json.RawMessage) string {
	var want struct {
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(schema, &want); err != nil {
		return "the schema is not JSON: " + err.Error()
	}
	given := map[string]json.RawMessage{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return "the arguments are not a JSON object: " + err.Error()
		}
	}
	for _, name := range want.Required {
		if _, ok := given[name]; !ok {
			return fmt.Sprintf("the argument %q is missing", name)
		}
	}
	return ""
}
