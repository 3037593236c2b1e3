package boundary_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/tool"
)

// agentsConfig is the agentd.yaml of the run below. With its prices, each cost is a number of
// quarters, so that sums do not depend on their order.
const agentsConfig = `
model: plain
models:
  big: {provider: openai, model: big, base_url: "$URL", price: {input: 1000000, output: 500000}}
  small: {provider: openai, model: small, base_url: "$URL", price: {input: 500000, output: 250000}}
  plain: {provider: openai, model: plain, base_url: "$URL", price: {input: 250000, output: 250000}}
agents:
  lead:
    instructions: "Lead the team ${context.team}."
    model: big
    fallbacks: [small]
    delegates_to: [writer]
    system_tools: []
    limits: {max_cost: 100000}
  writer:
    description: Writes.
    instructions: "Write for ${context.team}."
    model: plain
    delegates_to: [checker]
    system_tools: []
    tools: {names: [counterplugin_write]}
  checker:
    description: Checks.
    instructions: "Check for ${context.team}."
    model: plain
    effort: low
    system_tools: []
    tools: {plugins: [counterplugin]}
    response_schema_file: ` + schemaFile + `
`

// schemaFile has the response schema of the checker, beside agentd.yaml.
const schemaFile = "answer.schema.json"

const (
	writerPrompt  = "write it"
	checkerPrompt = "check it"
)

// agentsStory is the script of a run of three named agents: the lead delegates to the writer, which
// delegates to the checker. A tool of the lead asks a person. The person edits one call, and gives
// a standing approval with one call of the checker, which approves its next call, and not that of
// the lead. The answers of the lead and of the checker are objects that are wrong at first.
func agentsStory(executions string) script {
	return func(prompt string, found map[string]string) (list [][]ask, last string, base int) {
		switch prompt {
		case writerPrompt:
			base = 100
			list = [][]ask{
				{{"call_1_0", "counterplugin_write", `{"key":"draft"}`}, {"call_1_1", "new_task", `{"agent":"checker","task":"` + checkerPrompt + `"}`}}, nil,
			}
			last = "written: " + found["call_1_0"] + ", " + found["call_1_1"]
		case checkerPrompt:
			base = 200
			list = [][]ask{
				{{"call_1_0", "counterplugin_drop", `{"key":"stand/a"}`}, {"call_1_1", "counterplugin_slow", `{"key":"rest"}`}},
				{{"call_2_0", "counterplugin_drop", `{"key":"stand/b"}`}}, nil, nil,
			}
			last = fmt.Sprintf(`{"first":%q,"second":%q}`, found["call_1_0"], found["call_2_0"])
		default:
			list = [][]ask{
				{{"call_1_0", "counterplugin_write", `{"key":"one"}`}, {"call_1_1", "ask_person", fmt.Sprintf(`{"message":"Which color?","file":%q}`, executions)}},
				{{"call_2_0", "new_task", `{"agent":"writer","task":"` + writerPrompt + `","attachments":["count.png"]}`}, {"call_2_1", "counterplugin_slow", `{"key":"beside"}`}},
				{{"call_3_0", "counterplugin_drop", `{"key":"edit this"}`}, {"call_3_1", "counterplugin_write", fmt.Sprintf(`{"key":%q}`, found["call_2_0"])},
					{"call_3_2", "counterplugin_drop", `{"key":"stand/c"}`}},
				nil, nil,
			}
			last = fmt.Sprintf(`{"first":%q,"second":%q}`, found["call_1_1"], found["call_3_0"])
		}
		return list, last, base
	}
}

// asking is a world whose toolhost also has askplugin, which may ask people.
func asking(t *testing.T) func(*world) {
	return func(w *world) {
		w.plugins = filepath.Join(w.home, "plugins")
		config := filepath.Join(w.home, "toolhost.yaml")
		w.flags = []string{"--config", config}
		for _, err := range []error{
			os.Mkdir(w.plugins, 0o700),
			os.Symlink(filepath.Join(bin, "plugins", "counterplugin"), filepath.Join(w.plugins, "counterplugin")),
			os.Symlink(filepath.Join(bin, "askplugin"), filepath.Join(w.plugins, "askplugin")),
			os.WriteFile(config, []byte("plugin:\n  askplugin: {ask: [person]}\n"), 0o600),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// agentsRun is what the test compares of two runs.
type agentsRun struct {
	story
	asked    int             // executions of the tool that asks
	approved map[string]bool // the arguments of the calls that the person was asked to approve
	standing []string        // the standing approvals that toolhost has for the session
}

// standing returns the later calls that the person approves with one call of the checker: those for
// keys with the same beginning in the session.
func standing(wanted *agentdv1.PendingDecision) *agentdv1.StandingChoice {
	if !strings.Contains(string(wanted.GetArguments()), "stand/a") {
		return nil
	}
	return &agentdv1.StandingChoice{
		Scope:    agentdv1.StandingScope_STANDING_SCOPE_SESSION,
		Patterns: []*agentdv1.StandingPattern{{Argument: "key", Form: &agentdv1.StandingPattern_PathPrefix{PathPrefix: "stand"}}},
	}
}

// approvalsOf returns what toolhost says of the standing approvals of a session.
func approvalsOf(t *testing.T, w *world, session string) (list []string) {
	t.Helper()
	c, err := client.Dial(w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.Approvals(t.Context(), tool.ApprovalQuery{PageSize: 1000, Ended: true})
	if err != nil || page.NextPageToken != "" {
		t.Fatalf("%d approvals and a further page %q: %v", len(page.Approvals), page.NextPageToken, err)
	}
	for _, a := range page.Approvals {
		if a.Session == session {
			list = append(list, fmt.Sprintf("%s of %s for %s by %s: %v %v", a.Tool, a.Agent, a.CallID, a.ApprovedBy, a.Patterns, a.Ended.IsZero()))
		}
	}
	return list
}

// runAgents returns the story of the run. It kills the victims at the place, unless the place only
// reports the appends, whose number it returns then.
func runAgents(t *testing.T, w *world, v victims, at place) (s agentsRun, appends int) {
	t.Helper()
	executions := filepath.Join(w.home, "workspace", "asked-"+at.String())
	b := newBrain(t)
	b.says, b.config = agentsStory(executions), agentsConfig
	b.breaks = func(model, prompt string, turn int) bool { return model == "big" && turn == 2 }
	var who *person
	lead := func(p *person) {
		who, p.agent, p.schema, p.late = p, "lead", answerSchema, "look at this too"
		p.standing = standing
	}
	if at.side == "none" {
		var boundaries []uint64
		s.story, boundaries = undisturbedStory(t, w, b, lead)
		appends = len(boundaries)
	} else {
		d := newAgentd(t, w, b, folder(t, w), at)
		first := d.life
		ended := d.disaster(v)
		p := newPerson(t, d.addr, at.String(), false)
		lead(p)
		var err error
		if s.story, err = live(t, w, b, p); err != nil {
			first.kill()
		}
		if err := errors.Join(err, <-ended); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := os.ReadFile(executions)
	if err != nil {
		t.Fatal(err)
	}
	s.asked, s.approved, s.standing = strings.Count(string(lines), "\n"), who.approved, approvalsOf(t, w, who.session)
	// The path of the file is the only difference between the requests of two runs.
	for turn, body := range s.story.asked {
		s.story.asked[turn] = strings.ReplaceAll(body, executions, "EXECUTIONS")
	}
	return s, appends
}

// TestNamedAgentsAtBoundaries kills agentd before or after appends to the journals of a run of
// named agents and of its sub-runs, in which a model is overloaded in the middle of its stream. All
// runs end with the same answer, cost and requests, each call is executed once, and no person is
// asked twice. If toolhost is killed, outcomes may be lost, but no call is executed twice.
func TestNamedAgentsAtBoundaries(t *testing.T) {
	w := newWorldWith(t, asking(t))
	whole, appends := runAgents(t, w, victims{}, place{side: "none"})
	checkAgents(t, whole, appends)
	crew := newCrew(whole.story)
	for _, at := range everyNth(appends) {
		crew.run(t, at.String(), func(t *testing.T) {
			s, _ := runAgents(t, w, victims{agentd: true}, at)
			compare(t, whole.story, s.story)
			if s.asked != whole.asked {
				t.Errorf("the tool that asks was executed %d times", s.asked)
			}
			compareApproved(t, whole, s)
		})
	}
	for _, v := range []victims{{toolhost: true}, {agentd: true, toolhost: true}} {
		for _, at := range someNth(appends) {
			crew.run(t, v.String()+"_"+at.String(), func(t *testing.T) {
				s, _ := runAgents(t, newWorldWith(t, asking(t)), v, at)
				compareAgentsLoosely(t, whole, s)
			})
		}
	}
	crew.group.Wait()
}

// compareAgentsLoosely compares a run whose toolhost was killed with the undisturbed run. The
// outcomes of calls may be lost, so the texts differ. The course, the cost and the form of the
// answer do not, and no call is executed twice but that of the tool that asks, which has no side
// effects.
func compareAgentsLoosely(t *testing.T, whole, s agentsRun) {
	t.Helper()
	if s.end.GetStopReason() != whole.end.GetStopReason() || s.end.GetTurns() != whole.end.GetTurns() || s.end.GetCalls() != whole.end.GetCalls() ||
		s.end.GetCost() != whole.end.GetCost() || len(s.end.GetResult()) == 0 {
		t.Errorf("the run ended with %v, want %v", s.end, whole.end)
	}
	known := make(map[string]bool)
	for id := range whole.executed {
		call, _, _ := strings.Cut(id, ".a")
		known[call] = true
	}
	executed := make(map[string]int)
	for id, n := range s.executed {
		call, _, _ := strings.Cut(id, ".a")
		if executed[call] += n; executed[call] > 1 || !known[call] {
			t.Errorf("call %s was executed %d times; the undisturbed run executes it: %v", call, executed[call], known[call])
		}
	}
	for id, r := range s.results {
		if was := whole.results[id]; !isLost(r, false) && r.GetTool() != "new_task" && executed[id] == 0 && was != nil && strings.HasPrefix(r.GetTool(), "counterplugin_") {
			t.Errorf("call %s was not executed, and its result is %v", id, r)
		}
	}
	if s.asked < 1 || s.asked > 2 {
		t.Errorf("the tool that asks was executed %d times", s.asked)
	}
	compareApproved(t, whole, s)
}

// compareApproved checks that the person was asked to approve the same calls: not one that the
// standing approval covers, and each that it does not. toolhost has created the approval once.
func compareApproved(t *testing.T, whole, s agentsRun) {
	t.Helper()
	if diff := cmp.Diff(whole.approved, s.approved); diff != "" {
		t.Errorf("the person was asked to approve other calls:\n%s", diff)
	}
	if diff := cmp.Diff(whole.standing, s.standing); diff != "" {
		t.Errorf("toolhost has other standing approvals:\n%s", diff)
	}
}

// checkAgents checks that the undisturbed run has what the test disturbs.
func checkAgents(t *testing.T, whole agentsRun, appends int) {
	t.Helper()
	end := whole.end
	if end.GetStopReason() != agentdv1.StopReason_STOP_REASON_COMPLETED || !strings.Contains(string(end.GetResult()), `blue`) || end.GetTurns() != 5 || appends < 28 {
		t.Fatalf("the undisturbed run has %d appends and ended with %v", appends, end)
	}
	// The lead: 4 turns of the first model and one of its fallback. The sub-runs: 6 turns.
	if want := 4*(20+3*0.5) + (20*0.5 + 3*0.25) + 6*(20+3)*0.25; end.GetCost() != want {
		t.Errorf("the run costs %v, want %v", end.GetCost(), want)
	}
	turns := make(map[int]bool)
	for turn := range whole.story.asked {
		turns[turn] = true
	}
	want := map[int]bool{1: true, 2: true, fallbackBase + 2: true, 3: true, 4: true, 5: true, 101: true, 102: true, 201: true, 202: true, 203: true, 204: true}
	if diff := cmp.Diff(want, turns); diff != "" {
		t.Errorf("the requests (-want +got):\n%s", diff)
	}
	if body := whole.story.asked[4]; strings.Count(body, "data:image/png") != 2 || !strings.Contains(body, "look at this too") || strings.Contains(body, "half") {
		t.Errorf("the request of turn 4 does not have the two pictures and the message")
	}
	if !strings.Contains(whole.story.asked[101], "data:image/png") || !strings.Contains(whole.story.asked[101], "Write for blue.") {
		t.Errorf("the writer did not get its picture or its instructions")
	}
	asked := map[string]bool{`{"key":"stand/a"}`: true, `{"key":"edit this"}`: true, `{"key":"stand/c"}`: true}
	if diff := cmp.Diff(asked, whole.approved); diff != "" {
		t.Errorf("the person was asked to approve (-want +got):\n%s", diff)
	}
	if len(whole.standing) != 1 || !strings.Contains(whole.standing[0], "drop of checker for ") || !strings.Contains(whole.standing[0], " by ann: ") || !strings.HasSuffix(whole.standing[0], " true") {
		t.Errorf("toolhost has the standing approvals %q", whole.standing)
	}
	if !strings.Contains(whole.story.asked[204], "[invalid answer]") || !strings.Contains(whole.story.asked[102], `"{\"first\":\"stand/a`) {
		t.Error("the checker has no repair, or the writer gets no object")
	}
	if len(whole.executed) != 9 || whole.asked != 1 {
		t.Errorf("%v were executed, and the tool that asks %d times", whole.executed, whole.asked)
	}
}

// everyNth returns a place before or after each append of a process, alternately, and with
// -boundary.all both.
func everyNth(appends int) (places []place) {
	for n := range appends {
		for i, side := range []string{"before_nth", "after_nth"} {
			if *all || n%2 == i {
				places = append(places, place{uint64(n + 1), side})
			}
		}
	}
	return places
}

// someNth returns three places that are spread over the appends of a process, and with
// -boundary.all all places.
func someNth(appends int) (places []place) {
	every := everyNth(appends)
	if *all {
		return every
	}
	random := rand.New(rand.NewPCG(*seed, uint64(appends)))
	stride := len(every) / chosen
	for i := range chosen {
		places = append(places, every[i*stride+random.IntN(stride)])
	}
	return places
}
