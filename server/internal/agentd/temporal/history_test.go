package temporal_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	history "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
)

var (
	update  = flag.Bool("update", false, "record the histories of this version again")
	service = flag.String("temporal.address", "", "the `ADDRESS` of a Temporal service, with the namespace default, whose histories are replayed, too, and recorded with -update")
)

// goldenFolder has histories of workflows, of this version and of those that were released.
const goldenFolder = "testdata/histories"

// The workflow makes the same commands from the histories of all versions. A workflow that waits
// for months goes on with the agentd of then. If the test fails, undo the change of the workflow:
// it cannot be made, except beside the old code, under another name of the workflow.
func TestGoldenHistories(t *testing.T) {
	recorded := goldenFolder
	if !*update {
		recorded = t.TempDir()
	}
	if *update || *service != "" {
		record(t, recorded)
	}
	files, err := filepath.Glob(goldenFolder + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if more, _ := filepath.Glob(recorded + "/*.json"); !*update {
		files = append(files, more...)
	}
	now := 0
	for _, file := range files {
		replayer := sdkworker.NewWorkflowReplayer()
		replayer.RegisterWorkflowWithOptions(temporal.Drive, workflow.RegisterOptions{Name: temporal.WorkflowName})
		if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if strings.HasPrefix(filepath.Base(file), version.Number+"-") {
			now++
		}
	}
	if now < 6 {
		t.Errorf("%d histories are of version %s: run the test with -update, and keep the files of released versions", now, version.Number)
	}
}

// record records the histories of scenarios in a folder.
func record(t *testing.T, folder string) {
	waits := agent.Rest{WaitsFor: "decisions (approval: 1)", Agent: "helper"}
	for name, rests := range map[string][]agent.Rest{
		"ended": {{Ended: true}}, "decision": {waits, {Ended: true}}, "time": {{Next: time.Second, Agent: "helper"}, {Ended: true}},
		"parked": {{Parked: true}, {Ended: true}}, "again": {waits, waits, {Ended: true}},
	} {
		recordOne(t, folder, name, rests, true)
	}
	if *service == "" { // the namespace default of the service has the search attributes
		recordOne(t, folder, "unregistered", []agent.Rest{waits, {Ended: true}}, false)
	}
}

func recordOne(t *testing.T, folder, name string, rests []agent.Rest, attributes bool) {
	s, w := temporaltest.Start(t), newWorker()
	if !attributes {
		s.SetAttributes()
	}
	address := s.Address
	if *service != "" {
		address = *service
	}
	run := fmt.Sprintf("%s-%d", name, time.Now().UnixNano())
	w.rests[run] = rests
	e, stop := drive(t, s, w, func(c *temporal.Config) { c.Address = address })
	ready(t, e)
	e.Due(run)
	var found []*history.History
	for n := 1; n < len(rests); n++ {
		eventually.Holds(t, "the run rests", func() bool { return w.calls(run) >= n })
		if rests[n-1].Next == 0 {
			time.Sleep(time.Second) // so that the signal is not the first one's; only here
			e.Due(run)
		}
	}
	if *service == "" {
		gone(t, s)
		found = s.Closed()
	} else {
		eventually.Holds(t, "the run has ended", func() bool { return w.calls(run) >= len(rests) })
		time.Sleep(time.Second) // until the workflow has ended, too; only here
		found = download(t, address, "agentd/"+run)
	}
	stop()
	for i, h := range found {
		text, err := protojson.MarshalOptions{Indent: " "}.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fmt.Sprintf("%s/%s-%s-%d.json", folder, version.Number, name, i+1), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// download returns the histories of a workflow and of those that it continues, the oldest first.
func download(t *testing.T, address, id string) (all []*history.History) {
	c, err := client.Dial(client.Options{HostPort: address})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for run := ""; ; {
		h := &history.History{}
		for events := c.GetWorkflowHistory(t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			e, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			h.Events = append(h.Events, e)
		}
		all = append(all, h)
		if run = h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			slices.Reverse(all)
			return all
		}
	}
}

// Histories grow with waits alone, and have nothing but ids, states and what runs wait for.
func TestHistoriesStaySmall(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	const waits = 20
	for range waits {
		w.rests["r"] = append(w.rests["r"], agent.Rest{WaitsFor: "decisions (approval: 1)", Agent: "helper"})
	}
	w.rests["r"] = append(w.rests["r"], agent.Rest{Ended: true})
	e, _ := drive(t, s, w, nil)
	ready(t, e)
	for n := 1; n <= waits+1; n++ {
		e.Due("r")
		eventually.Holds(t, "the run waits, or has ended", func() bool {
			return w.calls("r") >= n && (n > waits || s.Waits("agentd/r") != "")
		})
	}
	gone(t, s)
	events, size := 0, 0
	for _, h := range s.Closed() {
		events, size = events+len(h.GetEvents()), size+proto.Size(h)
		if n := len(h.GetEvents()); n > 20 {
			t.Errorf("a history has %d events", n)
		}
	}
	t.Logf("%d waits: %d histories, %d events, %d bytes", waits, len(s.Closed()), events, size)
	if events > 20*(waits+1) || size > 4096*(waits+1) {
		t.Errorf("%d waits take %d events and %d bytes", waits, events, size)
	}
}

func containsText(h *history.History, text string) bool {
	data, err := proto.Marshal(h)
	return err != nil || bytes.Contains(data, []byte(text))
}
