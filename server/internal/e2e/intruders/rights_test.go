package intruders_test

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
)

// denied completes an attack of a known caller that lacks a right.
func denied(name, principal, reason string, r request) attack {
	return attack{name: name, to: "tls", request: r, code: codes.PermissionDenied, line: line{Kind: "authorization", Principal: principal, Act: r.method, Reason: reason}}
}

// withoutRight are attacks of known callers on the server and on tools.
func (w *world) withoutRight() []attack {
	eve, olga := w.tokens["eve"], w.tokens["olga"]
	var attacks []attack
	for rpc, m := range map[string]proto.Message{
		"Restart": &toolhostv1.RestartRequest{Plugin: "counterplugin", Force: true}, "Drain": &toolhostv1.DrainRequest{Plugin: "counterplugin"},
		"Pause": &toolhostv1.PauseRequest{Plugin: "counterplugin"}, "Resume": &toolhostv1.ResumeRequest{Plugin: "counterplugin"},
		"ClearQuarantine": &toolhostv1.ClearQuarantineRequest{Plugin: "counterplugin"}, "Upgrade": &toolhostv1.UpgradeRequest{Plugin: "counterplugin"},
		"Rollback": &toolhostv1.RollbackRequest{Plugin: "counterplugin"}, "Reload": &toolhostv1.ReloadRequest{},
	} {
		attacks = append(attacks,
			denied("a caller tries "+rpc, "blue/eve", "does not have the right", ask(eve, admin+rpc, m)),
			denied("the operator of a tenant tries "+rpc, "red/olga", "does not say tenants: [all]", ask(olga, admin+rpc, m)),
		)
	}
	for rpc, m := range map[string]proto.Message{
		"ListPlugins": &toolhostv1.ListPluginsRequest{}, "ListInstances": &toolhostv1.ListInstancesRequest{}, "ListCalls": &toolhostv1.ListCallsRequest{},
		"WatchEvents": &toolhostv1.WatchEventsRequest{}, "TailLogs": &toolhostv1.TailLogsRequest{}, "GetStats": &toolhostv1.GetStatsRequest{},
		"ReadAudit": &toolhostv1.ReadAuditRequest{}, "DiffConfiguration": &toolhostv1.DiffConfigurationRequest{}, "GetLockFile": &toolhostv1.GetLockFileRequest{},
		"ListRevisions": &toolhostv1.ListRevisionsRequest{Plugin: "counterplugin"},
	} {
		attacks = append(attacks, denied("a caller reads "+rpc, "blue/eve", "does not have the right", ask(eve, admin+rpc, m)))
	}
	reload := &toolhostv1.ReloadRequest{}
	smuggled := ask(eve, admin+"Reload", reload)
	smuggled.headers = append(smuggled.headers, "x-principal", "boss", "x-forwarded-user", "boss", "on-behalf-of", "boss", "authorization-bin", "Qm9zcw", "x-http-method-override", "GET")
	anonymous := denied("a program at a plain port reloads", "anonymous", "does not have the right", request{method: admin + "Reload", frames: []proto.Message{reload}})
	anonymous.to = "plain"
	hidden := denied("a tool outside of the token's scope", "red/lea", "no tool of this name exists", call(w.tokens["limited"], "counterplugin_write", `{"key":"x"}`, nil))
	hidden.code, hidden.line.Act, hidden.line.Target = codes.NotFound, "call", "counterplugin_write"
	unknown := denied("an RPC that does not exist", "blue/eve", "no such RPC", ask(eve, admin+"Become", reload))
	unknown.code = codes.Unimplemented
	return append(attacks, anonymous, hidden, unknown,
		denied("names in metadata beside a good token", "blue/eve", "does not have the right", smuggled),
		denied("a token of an administrator for auditing only", "boss", "the scope of the token is the role auditor", ask(w.tokens["auditing boss"], admin+"Reload", reload)),
		denied("a principal without a binding", "ghost", "no binding gives ghost a role", ask(w.tokens["ghost"], tools+"ListTools", &toolhostv1.ListToolsRequest{})),
		denied("a principal without a binding calls", "ghost", "no binding gives ghost a role", call(w.tokens["ghost"], "counterplugin_write", `{"key":"x"}`, nil)),
	)
}

// delegations are attacks that name another principal.
func (w *world) delegations() []attack {
	ada := &toolv1.Principal{Tenant: "red", Name: "ada"}
	var attacks []attack
	for rpc, m := range map[string]proto.Message{
		"ListTools":    &toolhostv1.ListToolsRequest{OnBehalfOf: ada},
		"GetTool":      &toolhostv1.GetToolRequest{Name: "counterplugin_write", OnBehalfOf: ada},
		"SearchTools":  &toolhostv1.SearchToolsRequest{Query: "write", OnBehalfOf: ada},
		"RenderTools":  &toolhostv1.RenderToolsRequest{Format: toolhostv1.ToolFormat_TOOL_FORMAT_MCP, OnBehalfOf: ada},
		"WatchCall":    &toolhostv1.WatchCallRequest{CallId: "ada-call", Session: "ada-session", OnBehalfOf: ada},
		"CancelCall":   &toolhostv1.CancelCallRequest{CallId: "ada-hang", Session: "ada-session", OnBehalfOf: ada},
		"ReadArtifact": &toolhostv1.ReadArtifactRequest{Handle: w.handle, Session: "ada-session", OnBehalfOf: ada},
	} {
		attacks = append(attacks, denied("a caller names another tenant's principal in "+rpc, "blue/eve", "does not have the right delegate", ask(w.tokens["eve"], tools+rpc, m)))
	}
	as := func(token, name, principal, reason string, named *toolv1.Principal) {
		a := denied(name, principal, reason, call(w.tokens[token], "counterplugin_write", `{"key":"x"}`, &toolhostv1.CallOptions{OnBehalfOf: named}))
		attacks = append(attacks, a)
	}
	as("eve", "a caller names itself with more groups", "blue/eve", "does not have the right delegate", &toolv1.Principal{Tenant: "blue", Name: "eve", Groups: []string{"admins"}})
	as("boss", "an administrator names another principal", "boss", "does not have the right delegate", ada)
	as("agent", "a delegate names another tenant", "agent", "but not in the tenant blue", &toolv1.Principal{Tenant: "blue", Name: "eve"})
	as("agent", "a delegate names root", "agent", "but not in the tenant default", &toolv1.Principal{Name: "uid:0"})
	as("agent", "a delegate names an administrator", "agent", "but not in the tenant default", &toolv1.Principal{Tenant: "default", Name: "boss"})
	as("agent", "a delegate acts for itself without a role in its tenant", "agent", "no tool of this name exists", nil)
	attacks[len(attacks)-1].code, attacks[len(attacks)-1].line.Act = codes.NotFound, "call"
	for name, named := range map[string]*toolv1.Principal{
		"a path":     {Tenant: "red/../blue", Name: "eve"},
		"all":        {Tenant: "all", Name: "eve"},
		"a line end": {Tenant: "red", Name: "ada\nboss"},
		"65 groups":  {Tenant: "red", Name: "ada", Groups: strings.Split(strings.Repeat("g,", 64)+"g", ",")},
	} {
		as("agent", "a delegate names a principal with "+name, "agent", "on_behalf_of", named)
		attacks[len(attacks)-1].code = codes.InvalidArgument
	}
	execute := denied("a caller names another tenant's principal in Execute", "blue/eve", "does not have the right delegate", ask(w.tokens["eve"], tools+"Execute", &toolhostv1.ExecuteRequest{
		Frame: &toolhostv1.ExecuteRequest_Start{Start: &toolhostv1.StartCall{
			Tool: "counterplugin_write", Arguments: []byte(`{"key":"x"}`), Complete: true, Options: &toolhostv1.CallOptions{OnBehalfOf: ada, Session: "s"},
		}},
	}))
	return append(attacks, execute)
}

// idsOfOthers are attacks with ids and handles of ada.
func (w *world) idsOfOthers() []attack {
	var attacks []attack
	for _, who := range []string{"eve", "bob"} {
		principal := map[string]string{"eve": "blue/eve", "bob": "red/bob"}[who]
		for name, r := range map[string]request{
			"watches ada's call":             ask(w.tokens[who], tools+"WatchCall", &toolhostv1.WatchCallRequest{CallId: "ada-call", Session: "ada-session"}),
			"watches ada's call in progress": ask(w.tokens[who], tools+"WatchCall", &toolhostv1.WatchCallRequest{CallId: "ada-hang", Session: "ada-session"}),
			"cancels ada's call":             ask(w.tokens[who], tools+"CancelCall", &toolhostv1.CancelCallRequest{CallId: "ada-hang", Session: "ada-session"}),
			"cancels by ada's key":           ask(w.tokens[who], tools+"CancelCall", &toolhostv1.CancelCallRequest{CallId: "red/ada/ada-hang"}),
			"reads ada's artifact":           ask(w.tokens[who], tools+"ReadArtifact", &toolhostv1.ReadArtifactRequest{Handle: w.handle, Session: "ada-session"}),
			"reads an artifact by a path":    ask(w.tokens[who], tools+"ReadArtifact", &toolhostv1.ReadArtifactRequest{Handle: "../" + w.handle, Session: "ada-session"}),
		} {
			a := denied(who+" "+name, principal, "", r)
			a.code = codes.NotFound
			attacks = append(attacks, a)
		}
	}
	anonymous := denied("a program at a plain port cancels ada's call", "anonymous", "", request{method: tools + "CancelCall", frames: []proto.Message{&toolhostv1.CancelCallRequest{CallId: "ada-hang", Session: "ada-session"}}})
	anonymous.to, anonymous.code = "plain", codes.NotFound
	other := denied("the delegate itself watches ada's call", "agent", "", ask(w.tokens["agent"], tools+"WatchCall", &toolhostv1.WatchCallRequest{CallId: "ada-call", Session: "ada-session"}))
	other.code = codes.NotFound
	foreign := denied("an operator lists another tenant's calls", "red/olga", "blue", ask(w.tokens["olga"], admin+"ListCalls", &toolhostv1.ListCallsRequest{Tenants: []string{"blue"}}))
	foreign.code = codes.OK // with no calls
	return append(attacks, anonymous, other, foreign)
}

// approvals are attacks on approvals.
func (w *world) approvals() []attack {
	var attacks []attack
	as := func(token, name, principal, kind, reason string, code codes.Code, arguments string, onBehalfOf *toolv1.Principal, approval *toolhostv1.Approval) {
		r := call(w.tokens[token], "counterplugin_drop", arguments, &toolhostv1.CallOptions{OnBehalfOf: onBehalfOf, Approval: approval})
		attacks = append(attacks, attack{name: name, to: "tls", request: r, code: code, line: line{Kind: kind, Principal: principal, Reason: reason}})
	}
	ada, bob := &toolv1.Principal{Tenant: "red", Name: "ada"}, &toolv1.Principal{Tenant: "red", Name: "bob"}
	const one, other = `{"key":"one"}`, `{"key":"other"}`
	digest := digestOf(one)
	as("ada", "a caller approves its own call", "red/ada", "authorization", "does not have the right calls.approve", codes.PermissionDenied, one, nil, &toolhostv1.Approval{ApprovedBy: "boss"})
	as("ada", "a caller names an approver", "red/ada", "authorization", "does not have the right delegate", codes.PermissionDenied, one, nil, &toolhostv1.Approval{Approver: bob})
	as("agent", "a delegate names an approver of another tenant", "agent", "authorization", "but not in the tenant blue", codes.PermissionDenied, one, ada, &toolhostv1.Approval{Approver: &toolv1.Principal{Tenant: "blue", Name: "bea"}})
	as("agent", "a delegate approves by itself", "agent", "authorization", "does not have the right calls.approve", codes.PermissionDenied, one, ada, &toolhostv1.Approval{ApprovedBy: "bob"})
	as("agent", "the approval of other arguments, by their digest", "red/ada", "call", "", codes.FailedPrecondition, other, ada, &toolhostv1.Approval{Approver: bob, ArgumentsSha256: digest})
	as("agent", "the approval of other arguments", "red/ada", "call", "", codes.FailedPrecondition, other, ada, &toolhostv1.Approval{Approver: bob, Arguments: []byte(one)})
	as("agent", "an approver that cannot exist", "agent", "authorization", "the approver", codes.InvalidArgument, one, ada, &toolhostv1.Approval{Approver: &toolv1.Principal{Tenant: "red", Name: "bob bob"}})
	return attacks
}
