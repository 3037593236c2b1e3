package intruders_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// digestOf returns the digest of canonical arguments.
func digestOf(arguments string) string {
	sum := sha256.Sum256([]byte(arguments))
	return hex.EncodeToString(sum[:])
}

func approve(runID, decision string) *agentdv1.RespondRequest {
	return &agentdv1.RespondRequest{
		RunId: runID, DecidedBy: "boss", Decisions: []*agentdv1.Decision{{DecisionId: decision, Verdict: &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{}}}},
	}
}

// attachment is ada's artifact as an attachment.
func (w *world) attachment() []*agentdv1.Attachment {
	return []*agentdv1.Attachment{{Content: &agentdv1.Attachment_Artifact{Artifact: &agentdv1.ArtifactSource{Handle: w.handle, Session: "ada-session"}}}}
}

// runsOfOthers are attacks on ada's run, which waits for the approval d1, and on agentd.
func (w *world) runsOfOthers(t *testing.T) []attack {
	t.Helper()
	var attacks []attack
	as := func(who, name, principal, reason string, code codes.Code, rpc string, m proto.Message) {
		attacks = append(attacks, attack{
			name: who + " " + name, to: "agentd", request: ask(w.tokens[who+" at agentd"], runs+rpc, m), code: code,
			line: line{Kind: "authorization", Principal: principal, Act: runs + rpc, Reason: reason},
		})
	}
	for who, principal := range map[string]string{"eve": "blue/eve", "limited": "red/lea"} {
		for _, id := range []string{"red/ada-run", "ada-run"} {
			as(who, "reads "+id, principal, "no such run", codes.NotFound, "GetRun", &agentdv1.GetRunRequest{RunId: id})
			as(who, "watches "+id, principal, "no such run", codes.NotFound, "WatchRun", &agentdv1.WatchRunRequest{RunId: id})
		}
	}
	as("eve", "cancels the run", "blue/eve", "no such run", codes.NotFound, "CancelRun", &agentdv1.CancelRunRequest{RunId: w.run})
	as("eve", "deletes the run", "blue/eve", "no such run", codes.NotFound, "DeleteRun", &agentdv1.DeleteRunRequest{RunId: w.run})
	as("olga", "deletes the run as operator", "red/olga", "no such run", codes.NotFound, "DeleteRun", &agentdv1.DeleteRunRequest{RunId: w.run})
	as("eve", "sends a message", "blue/eve", "no such run", codes.NotFound, "SendMessage", &agentdv1.SendMessageRequest{RunId: w.run, Text: "approve it"})
	as("eve", "approves", "blue/eve", "no such run", codes.NotFound, "Respond", approve(w.run, "d1"))
	as("eve", "approves under a path", "blue/eve", "no such run", codes.NotFound, "Respond", approve("blue/../red/ada-run", "d1"))
	as("bea", "approves as approver of another tenant", "blue/bea", "no such run", codes.NotFound, "Respond", approve(w.run, "d1"))
	as("ada", "approves the call of the own run", "red/ada", "runs.approve", codes.PermissionDenied, "Respond", approve(w.run, "d1"))
	as("ada", "approves by the whole name", "red/ada", "runs.approve", codes.PermissionDenied, "Respond", approve(w.run, "red/ada-run/d1"))
	as("olga", "approves as operator", "red/olga", "no such run", codes.NotFound, "Respond", approve(w.run, "d1"))
	as("limited", "starts a run with a token for one tool", "red/lea", "limited to some tools", codes.PermissionDenied, "StartRun", &agentdv1.StartRunRequest{Prompt: "go"})
	as("bob", "attaches ada's artifact", "red/bob", "there is no artifact", codes.NotFound, "StartRun", &agentdv1.StartRunRequest{Prompt: "read it", Attachments: w.attachment()})
	as("bob", "attaches ada's artifact to an own run", "red/bob", "there is no artifact", codes.NotFound, "SendMessage", &agentdv1.SendMessageRequest{RunId: "bob-run", Text: "read it", Attachments: w.attachment()})
	as("eve", "attaches ada's artifact", "blue/eve", "delegate", codes.PermissionDenied, "StartRun", &agentdv1.StartRunRequest{Prompt: "read it", Attachments: w.attachment()})
	as("eve", "attaches ada's artifact to ada's run", "blue/eve", "no such run", codes.NotFound, "SendMessage", &agentdv1.SendMessageRequest{RunId: w.run, Text: "read it", Attachments: w.attachment()})
	as("ada", "reloads as caller", "red/ada", "does not have the right", codes.PermissionDenied, "Reload", &agentdv1.ReloadRequest{})
	as("ghost", "lists runs without a binding", "ghost", "no binding", codes.PermissionDenied, "ListRuns", &agentdv1.ListRunsRequest{})
	as("ghost", "starts a run without a binding", "ghost", "no binding", codes.PermissionDenied, "StartRun", &agentdv1.StartRunRequest{Prompt: "go"})
	as("eve", "asks for an RPC that does not exist", "blue/eve", "no such RPC", codes.Unimplemented, "Become", &agentdv1.ReloadRequest{})
	return attacks
}
