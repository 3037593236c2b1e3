package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolhost/toolhost/client"
)

// Start a run and watch it until it has finished.
func ExampleAgentClient_StartRun() {
	defer serveAgent()()
	a, err := client.DialAgent("") // AGENTD_ADDR, or the default socket of the user
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	ctx := context.Background()
	runID, err := a.StartRun(ctx, client.Task{
		Prompt: "Delete the old logs.",
		People: &client.People{Attended: true},
		Limits: client.RunLimits{Turns: 10},
	})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range a.WatchRun(ctx, runID, 0) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := event.Payload.(type) {
		case *client.AssistantMessage:
			fmt.Println("model:", e.Text)
		case *client.CallResult:
			fmt.Println(e.Tool+":", e.Result.Text())
		case *client.DecisionRequested: // see ExampleAgentClient_Respond
			fmt.Println("decision:", e.Decision.Reason)
		case *client.RunEnded:
			fmt.Println("ended:", e.StopReason)
		}
	}
	// Output:
	// model: I delete them.
	// decision: delete_file is dangerous
	// delete_file: deleted
	// ended: end_turn
}

// Approve the calls that a run waits for.
func ExampleAgentClient_Respond() {
	defer serveAgent()()
	a := dialAgent()
	defer a.Close()
	ctx := context.Background()
	run, err := a.GetRun(ctx, "waiting-run")
	if err != nil {
		log.Fatal(err)
	}
	for _, pending := range run.Pending {
		fmt.Println(pending.Tool, string(pending.Arguments))
		decision := client.Decision{ID: pending.ID, Verdict: client.Approve}
		if _, err := a.Respond(ctx, run.ID, "Ann", decision); err != nil {
			log.Fatal(err)
		}
	}
	// Output: delete_file {"path":"old.log"}
}

// List the runs that wait for a person.
func ExampleAgentClient_ListRuns() {
	defer serveAgent()()
	a := dialAgent()
	defer a.Close()
	filter := client.RunFilter{States: []client.RunState{client.RunWaiting}}
	for run, err := range a.ListRuns(context.Background(), filter) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(run.ID, run.State)
	}
	// Output: waiting-run waiting
}
