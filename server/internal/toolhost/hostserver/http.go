package hostserver

import (
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
)

// HTTPMethods returns the RPCs that toolhost also offers as JSON over HTTP. No other one is reached
// that way; docs/http.md and buf.gen.yaml list them, too.
func HTTPMethods() []string {
	return []string{
		toolhostv1.ToolService_ListTools_FullMethodName,
		toolhostv1.ToolService_Call_FullMethodName,
		toolhostv1.ToolService_WatchCall_FullMethodName,
		toolhostv1.ToolService_CancelCall_FullMethodName,
		decisionv1.DecisionService_ListDecisions_FullMethodName,
		decisionv1.DecisionService_GetDecision_FullMethodName,
		decisionv1.DecisionService_WatchDecisions_FullMethodName,
		decisionv1.DecisionService_Decide_FullMethodName,
	}
}
