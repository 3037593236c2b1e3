package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// approvalBook has the standing approvals of the tests.
type approvalBook struct {
	all     []tool.StandingApproval
	queries []tool.ApprovalQuery
	reason  string
}

func (b *approvalBook) CreateApproval(context.Context, tool.ApprovalRequest) (tool.StandingApproval, error) {
	return tool.StandingApproval{}, tool.Errorf(tool.KindUnsupported, "no command creates approvals")
}

// Approvals returns one approval a page.
func (b *approvalBook) Approvals(_ context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error) {
	b.queries = append(b.queries, q)
	for i := range b.all {
		if q.PageToken == "" || b.all[i].ID == q.PageToken {
			page := tool.ApprovalPage{Approvals: b.all[i : i+1]}
			if i+1 < len(b.all) {
				page.NextPageToken = b.all[i+1].ID
			}
			return page, nil
		}
	}
	return tool.ApprovalPage{}, nil
}

func (b *approvalBook) RevokeApproval(_ context.Context, r tool.ApprovalRevocation) (tool.StandingApproval, error) {
	b.reason = r.Reason
	for _, a := range b.all {
		if a.ID == r.ID {
			a.Ended, a.End, a.RevokedBy = time.Unix(1_800_000_000, 0), tool.ApprovalRevoked, r.By
			return a, nil
		}
	}
	return tool.StandingApproval{}, tool.Errorf(tool.KindNotFound, "there is no standing approval of this id")
}

// startWith starts a server of a host with the tools of the conformance suite, and returns the
// environment of its clients.
func startWith(t *testing.T, cfg hostserver.Config) map[string]string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at, err := address.Unix(filepath.Join(dir, "toolhost.sock"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := at.Listen(t.Context(), cli.Toolhost)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Host = hosttest.New(t, nil, hosttest.Tools()...)
	server := hostserver.NewServer(cfg)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return map[string]string{"TOOLHOST_ADDR": at.String()}
}

func TestApprovalsCommand(t *testing.T) {
	until := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	book := &approvalBook{all: []tool.StandingApproval{
		{
			ID: "approval-1", Principal: "red/ada", Agent: "writer", Tool: "write_file", Scope: tool.ScopeRun, Run: "run-1", Approver: "red/olga", Expires: until,
			Arguments: json.RawMessage(`{"mode":1,"title":"\u001b[31mred\u202e"}`),
			Patterns:  []tool.ArgumentPattern{{Argument: "path", PathPrefix: "docs"}, {Argument: "url", Origin: "https://a.example"}, {Argument: "content", Any: true}},
		},
		{ID: "approval-2", Principal: "red/ada\x1b[2J", Tool: "shell", Scope: tool.ScopePrincipal, AnyArguments: true, Expires: until, Ended: until, End: tool.ApprovalChanged},
		{ // names and folders that look like further arguments
			ID: "approval-3", Tool: "pay", Expires: until, Arguments: json.RawMessage(`{"to=me amount":1,"a\"b":2}`), Patterns: []tool.ArgumentPattern{{Argument: "path", PathPrefix: "docs amount=1"}},
		},
	}}
	env := startWith(t, hostserver.Config{Approvals: book})
	code, out, errs := toolhost(t.Context(), env, "", "approvals", "list", "--all", "--tenant", "red", "--tool", "t", "--run", "r", "--ended")
	if code != cli.ExitOK || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{
		`content=… mode=1 path=docs/… title="\u001b[31mred\u202e" url=https://a.example/…`, "run run-1", "red/olga", "in force", "any arguments", "all calls", "changed ",
		`"a\"b"=2 path="docs amount=1"/… "to=me amount"=1`,
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("the list lacks %q:\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("an approval can steer the terminal: %q", out)
	}
	if q := book.queries[0]; len(book.queries) != 3 || !q.AllPrincipals || !q.Ended || q.Tool != "t" || q.Run != "r" {
		t.Errorf("the queries were %+v", book.queries)
	}
	code, out, _ = toolhost(t.Context(), env, "", "approvals", "list", "-o", "json")
	var listed []map[string]any
	if err := json.Unmarshal([]byte(out), &listed); err != nil || code != cli.ExitOK || len(listed) != 3 || listed[0]["id"] != "approval-1" || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	code, out, _ = toolhost(t.Context(), env, "", "approvals", "revoke", "approval-1", "--reason", "enough")
	if code != cli.ExitOK || !strings.HasPrefix(out, "approval-1 of write_file has ended: revoked ") || book.reason != "enough" {
		t.Errorf("exit %d: %s, reason %q", code, out, book.reason)
	}
	code, out, _ = toolhost(t.Context(), env, "", "approvals", "revoke", "approval-1", "-o", "json")
	if code != cli.ExitOK || !strings.Contains(out, `"revoked":true`) {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, wrong := range []struct {
		args []string
		code int
	}{
		{[]string{"revoke", "approval-9"}, cli.ExitInfrastructure}, {[]string{"revoke"}, cli.ExitUsage}, {[]string{"list", "--tenant", "red"}, cli.ExitUsage}, {[]string{"list", "x"}, cli.ExitUsage},
	} {
		if code, out, errs := toolhost(t.Context(), env, "", append([]string{"approvals"}, wrong.args...)...); code != wrong.code || out != "" || errs == "" {
			t.Errorf("%v: exit %d, %q, %q", wrong.args, code, out, errs)
		}
	}
	book.all = nil
	if code, out, errs := toolhost(t.Context(), env, "", "approvals", "list"); code != cli.ExitOK || out != "" || !strings.Contains(errs, "no such standing approvals") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}
