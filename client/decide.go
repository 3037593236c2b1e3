package client

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// DecideRequest is the verdict about one decision. Name, Etag and Verdict are required.
type DecideRequest struct {
	Name string // InboxDecision.Name
	// Etag is InboxDecision.Etag of what the person has seen.
	Etag    string
	Verdict Verdict // Approve, Reject or Answer
	// Text is the reason, which may be empty, or the answer.
	Text string
	// Arguments approve a call with other arguments than those that were shown. Empty means those.
	Arguments json.RawMessage
	// RequestID makes the request safe to repeat: 1 to 64 of A-Z a-z 0-9 _ -. Empty means that a
	// repeated request gets conflict.
	RequestID string
	DecidedBy string // a name for the person; nobody verifies it; may be empty
}

// Decide makes a decision, and returns it as it was made. Errors: not_found; conflict if the
// decision is not what the person has seen any more, or another verdict came first: the message
// says whose; invalid_argument if the verdict does not fit the kind of decision; denied if the
// client may not decide.
func (a *AgentClient) Decide(ctx context.Context, request DecideRequest) (InboxDecision, error) {
	message, err := fromDecideRequest(&request)
	if err != nil {
		return InboxDecision{}, err
	}
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*decisionv1.DecideResponse, error) {
		return decisionv1.NewDecisionServiceClient(conn).Decide(ctx, message)
	})
	if err != nil {
		return InboxDecision{}, err
	}
	return toInboxDecision(resp.GetDecision()), nil
}

func fromDecideRequest(r *DecideRequest) (*decisionv1.DecideRequest, error) {
	verdict, known := map[Verdict]decisionv1.Verdict{
		Approve: decisionv1.Verdict_VERDICT_APPROVE, Reject: decisionv1.Verdict_VERDICT_REJECT, Answer: decisionv1.Verdict_VERDICT_ANSWER,
	}[r.Verdict]
	if !known {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the verdict %q cannot be given; use %s, %s or %s", r.Verdict, Approve, Reject, Answer)
	}
	return &decisionv1.DecideRequest{
		Name: r.Name, Etag: r.Etag, Verdict: verdict, Text: r.Text, Arguments: r.Arguments, RequestId: r.RequestID, DecidedByName: r.DecidedBy,
	}, nil
}
