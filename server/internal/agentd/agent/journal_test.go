package agent_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// readJournal returns the summary and the records of a fixture, the journal of an earlier version.
func readJournal(t *testing.T, name string) (json.RawMessage, []runstore.Record) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var head struct{ Summary json.RawMessage }
	var records []runstore.Record
	for lines.Scan() {
		if head.Summary == nil {
			err = json.Unmarshal(lines.Bytes(), &head)
		} else {
			var rec runstore.Record
			err = json.Unmarshal(lines.Bytes(), &rec)
			records = append(records, rec)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return head.Summary, records
}

// Journals of earlier versions stay readable. A run that was interrupted at any event of them
// continues and ends as it would have.
func TestJournalsOfEarlierVersions(t *testing.T) {
	const name = "journal-v1.jsonl"
	summary, records := readJournal(t, name)
	var last loop.RunFinished
	if err := json.Unmarshal(records[len(records)-1].Data, &last); err != nil {
		t.Fatal(err)
	}
	for length := 1; length <= len(records); length++ {
		synctest.Test(t, func(t *testing.T) {
			var answers []*model.Response
			for _, rec := range records {
				if rec.Type == string(loop.TypeAssistantMessage) {
					var m loop.AssistantMessage
					if err := json.Unmarshal(rec.Data, &m); err != nil {
						t.Fatal(err)
					}
					answers = append(answers, &model.Response{Message: m.Message, StopReason: m.StopReason, Usage: m.Usage})
				}
			}
			f := newFixture(t, turns(answers...), newTools(sometimes), nil)
			batch := runstore.Batch{RunID: "r", Records: records[:length], Head: runstore.Head{Unfinished: true, Summary: summary}}
			if err := f.store.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			if length == len(records) {
				run, err := f.GetRun(t.Context(), "r")
				if err != nil || run.Prompt != "hello" || run.StopReason != loop.StopEndTurn || run.Turns != 8 || run.Calls != 9 || run.Usage.InputTokens != 16 {
					t.Errorf("the summary is %+v, %v", run, err)
				}
			}
			if _, err := f.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			var got *loop.RunFinished
			for range 2 { // the second part of the run, unless the journal has its message
				events := f.watch(0)
				got = events[len(events)-1].Payload.(*loop.RunFinished)
				if got.Text == last.Text {
					break
				}
				if _, err := f.SendMessage(t.Context(), "r", "go on"); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(&last, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("after %d events, the run ends otherwise (-want +got):\n%s", length, diff)
			}
			for _, req := range f.model.seen() {
				checkPaired(t, req.Messages)
			}
		})
	}
}
