package agentserver

import (
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
)

// MaxRequestBytes is the largest request.
const MaxRequestBytes = maxRequestBytes

// HTTPMethods returns the RPCs that agentd also offers as JSON over HTTP. No other one is reached
// that way; docs/http.md and buf.gen.yaml list them, too.
func HTTPMethods() []string {
	return []string{
		agentdv1.AgentService_StartRun_FullMethodName,
		agentdv1.AgentService_GetRun_FullMethodName,
		agentdv1.AgentService_ListRuns_FullMethodName,
		agentdv1.AgentService_WatchRun_FullMethodName,
		agentdv1.AgentService_SendMessage_FullMethodName,
		agentdv1.AgentService_CancelRun_FullMethodName,
		decisionv1.DecisionService_ListDecisions_FullMethodName,
		decisionv1.DecisionService_GetDecision_FullMethodName,
		decisionv1.DecisionService_WatchDecisions_FullMethodName,
		decisionv1.DecisionService_Decide_FullMethodName,
	}
}
