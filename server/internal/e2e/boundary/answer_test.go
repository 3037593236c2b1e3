package boundary_test

import (
	"errors"
	"fmt"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// answerSchema is the response schema of the runs below.
const answerSchema = `{"type":"object","properties":{"first":{"type":"string"},"second":{"type":"string"}},"required":["first","second"],"additionalProperties":false}`

// calledAnswer is the script of a run that asks a person and gives its answer by final_answer:
// first a wrong one beside another call, then the right one.
func calledAnswer(_ string, found map[string]string) (list [][]ask, last string, base int) {
	return [][]ask{
		{{"call_1_0", "counterplugin_write", `{"key":"aa"}`}, {"call_1_1", "ask_user", `{"question":"Where to?"}`}},
		{{"call_2_0", "final_answer", fmt.Sprintf(`{"first":%q}`, found["call_1_0"])}, {"call_2_1", "counterplugin_write", `{"key":"bb"}`}},
		{{"call_3_0", "counterplugin_slow", `{"key":"cc"}`}},
		{{"call_4_0", "final_answer", fmt.Sprintf(`{"first":%q,"second":%q}`, found["call_1_0"], found["call_2_1"])}},
	}, "", 0
}

// saidAnswer is the script of a run that gives its answer as text: first a wrong one, then the
// right one.
func saidAnswer(_ string, found map[string]string) (list [][]ask, last string, base int) {
	return [][]ask{
		{{"call_1_0", "counterplugin_write", `{"key":"aa"}`}},
		nil,
		{{"call_3_0", "counterplugin_write", `{"key":"bb"}`}, {"call_3_1", "counterplugin_slow", `{"key":"cc"}`}},
		nil,
	}, fmt.Sprintf(`{"first":%q,"second":%q}`, found["call_1_0"], found["call_3_0"]), 0
}

// The test kills agentd before or after each append of a run with a structured answer. The run ends
// with the same answer, after the same number of repairs, and no call is executed twice.
func TestStructuredAnswersAtBoundaries(t *testing.T) {
	w := newWorld(t)
	for name, says := range map[string]script{"called": calledAnswer, "said": saidAnswer} {
		structured := func(p *person) {
			p.session, p.schema, p.system = p.session+"-"+name, answerSchema, []string{"ask_user"}
		}
		b := newBrain(t)
		b.says = says
		whole, boundaries := undisturbedStory(t, w, b, structured)
		if whole.end.GetStopReason() != agentdv1.StopReason_STOP_REASON_COMPLETED || len(whole.end.GetResult()) == 0 || whole.end.GetTurns() != 4 || len(boundaries) < 7 {
			t.Fatalf("%s: the undisturbed run has %d boundaries and ended with %v", name, len(boundaries), whole.end)
		}
		crew := newCrew(whole)
		for _, at := range everyOther(boundaries) {
			crew.run(t, name+"_"+at.String(), func(t *testing.T) {
				b := newBrain(t)
				b.says = says
				d := newAgentd(t, w, b, folder(t, w), at)
				first := d.life
				ended := d.disaster(victims{agentd: true})
				p := newPerson(t, d.addr, at.String(), false)
				structured(p)
				s, err := live(t, w, b, p)
				if err != nil {
					first.kill()
				}
				if err := errors.Join(err, <-ended); err != nil {
					t.Fatal(err)
				}
				compare(t, whole, s)
			})
		}
		crew.group.Wait()
	}
}

// everyOther returns a place before or after each append, alternately, and both at the last two.
// With -boundary.all it returns all places.
func everyOther(boundaries []uint64) (places []place) {
	for i, seq := range boundaries {
		for j, side := range []string{"before", "after"} {
			if *all || i%2 == j || i >= len(boundaries)-2 {
				places = append(places, place{seq, side})
			}
		}
	}
	return places
}
