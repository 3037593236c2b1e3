package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/listen"
)

// target returns a path of a route.
func target(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	path = strings.NewReplacer("{$}", "", "/decisions/{name...}", "/decisions/run-1/d1", "/extensions/{name...}", "/extensions/run-1/d1", "/runs/{name...}", "/runs/run-1", "/approvals/{id}", "/approvals/approval-1").Replace(path)
	return method, path
}

// Each route, in each situation in which it must not act or show anything. A new route is in the
// matrix by itself, and its line of what an ordinary request gets is missing.
func TestWhoMayUseARoute(t *testing.T) {
	usual := map[string]int{ // what a person who is logged in gets
		"GET /style.css": 200, "GET /favicon.ico": 204, "GET /console.js": 200, "GET /login": 200, "POST /login": 403, "GET /login/issuer": 404, "GET /login/callback": 403, "POST /logout": 303,
		"GET /events": 200, "GET /{$}": 200, "GET /decisions/{name...}": 200, "POST /decisions/{name...}": 303, "POST /extensions/{name...}": 303, "GET /runs/{name...}": 200,
		"GET /mine": 200, "POST /approvals/{id}": 303,
	}
	const login = -1 // sent to the login, or 401 for a form
	situations := map[string]struct {
		changes []change
		before  func(s *site)
		closed  int // what a route with a login answers; 0: as usual
		open    int // what another route answers
		get     bool
	}{
		"as usual":       {get: true},
		"no session":     {before: func(s *site) { clear(s.cookies) }, closed: login},
		"a false cookie": {before: func(s *site) { s.cookies["session"] = "AAAA" }, closed: login},
		"logged out":     {before: func(s *site) { s.send(http.MethodPost, "/logout", nil) }, closed: login},
		"a wrong host":   {changes: []change{func(r *http.Request) { r.Host = "evil.example" }}, closed: 421, open: 421},
		"a rebound name": {changes: []change{func(r *http.Request) { r.Host = "rebound.localhost:8600" }}, closed: 421, open: 421},
		"another port":   {changes: []change{func(r *http.Request) { r.Host = "agentd-test.localhost:8601" }}, closed: 421, open: 421},
	}
	refused := map[string][]change{ // for what changes something
		"another site":               {with("Sec-Fetch-Site", "cross-site"), with("Origin", "https://evil.example")},
		"the same site, other port":  {with("Sec-Fetch-Site", "same-site"), with("Origin", "http://agentd-test.localhost:9000")},
		"an old browser, other site": {without("Sec-Fetch-Site"), with("Origin", "https://evil.example")},
		"neither header":             {without("Sec-Fetch-Site"), without("Origin")},
		"an opaque origin":           {without("Sec-Fetch-Site"), with("Origin", "null")},
	}
	var patterns []string
	for _, page := range newSite(t).pages.routes() {
		patterns = append(patterns, page.pattern)
		method, path := target(page.pattern)
		want, known := usual[page.pattern]
		if !known {
			t.Fatalf("say what the route %s answers", page.pattern)
		}
		for name, in := range situations {
			s := newSite(t, approval())
			s.logIn(7)
			if in.before != nil {
				in.before(s)
			}
			resp := s.send(method, path, verdict("approve"), in.changes...)
			expect := want
			if !page.open && in.closed != 0 {
				expect = in.closed
			} else if page.open && in.open != 0 {
				expect = in.open
			}
			if expect == login {
				if expect = http.StatusSeeOther; method == http.MethodPost {
					expect = http.StatusUnauthorized
				}
				if at := resp.Header.Get("Location"); method == http.MethodGet && !strings.HasPrefix(at, "/login?to=") {
					t.Errorf("%s: %s sends the browser to %q", name, page.pattern, at)
				}
			}
			if resp.StatusCode != expect {
				t.Errorf("%s: %s answers %s, want %d", name, page.pattern, resp.Status, expect)
			}
			decided, acting := s.server.acts(), []string{"POST /decisions/{name...}", "POST /approvals/{id}", "POST /extensions/{name...}"}
			if may := name == "as usual" && slices.Contains(acting, page.pattern); may != (decided == 1) {
				t.Errorf("%s: %s decides %d times", name, page.pattern, decided)
			}
			checkHeaders(t, name+": "+page.pattern, resp.Header)
		}
		for name, changes := range refused {
			if method != http.MethodPost {
				continue
			}
			s := newSite(t, approval())
			s.logIn(7)
			if resp := s.send(method, path, verdict("approve"), changes...); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %s answers %s", name, page.pattern, resp.Status)
			}
			if s.server.acts() > 0 || s.sessions.of(s.cookies["session"]) == nil {
				t.Errorf("%s: %s acts", name, page.pattern)
			}
		}
	}
	for pattern := range usual {
		if !slices.Contains(patterns, pattern) {
			t.Errorf("there is no route %s any more", pattern)
		}
	}
}

// checkHeaders fails if an answer lacks a header that confines a page.
func checkHeaders(t *testing.T, name string, h http.Header) {
	t.Helper()
	for header, want := range map[string]string{
		"Content-Security-Policy": policy, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := h.Values(header); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %s is %q", name, header, got)
		}
	}
}

// A GET changes nothing, whatever it carries: scanners of mail follow each link.
func TestAScannerDecidesNothing(t *testing.T) {
	s := newSite(t, approval())
	s.logIn(7)
	for _, path := range []string{"/decisions/run-1/d1?" + verdict("approve").Encode(), "/decisions/run-1/d1/approve", "/approvals/approval-1", "/extensions/run-1/d1?" + verdict("").Encode(), "/logout", "/login?code=abcd-efgh"} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete} {
			s.send(method, path, verdict("approve"))
		}
	}
	if s.server.acts() > 0 || s.sessions.of(s.cookies["session"]) == nil {
		t.Error("a request without a form has an effect")
	}
}

// What is not UTF-8 is a mistake of the browser, and reaches no RPC.
func TestAddressesAndFormsAreText(t *testing.T) {
	s := newSite(t, approval())
	s.logIn(7)
	broken := verdict("reject")
	broken.Set("text", "\xff")
	for path, form := range map[string]url.Values{"/decisions/run-1/%ff": nil, "/?page=%ff": nil, "/?page=%f": nil, "/decisions/run-1/d1": broken} {
		method := http.MethodGet
		if form != nil {
			method = http.MethodPost
		}
		if resp := s.send(method, path, form); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s answers %s", path, resp.Status)
		}
	}
	if len(s.server.verdicts()) > 0 {
		t.Error("a broken form decides")
	}
}

func TestAVerdictRepeatsWhatWasShown(t *testing.T) {
	s := newSite(t, approval())
	s.logIn(7)
	page := body(t, s.send(http.MethodGet, "/decisions/run-1/d1", nil))
	for _, part := range []string{"May pay be called?", "mallory", "100", "rule money wants it", `name="etag" value="e1"`, "uid:7", "a No in"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q:\n%s", part, page)
		}
	}
	if first, second := strings.Index(page, "amount"), strings.Index(page, "note"); first < 0 || first > second {
		t.Error("the amount is not before the note")
	}
	old := verdict("approve")
	old.Set("etag", "of an old tab")
	if resp := s.send(http.MethodPost, "/decisions/run-1/d1", old); resp.StatusCode != http.StatusConflict {
		t.Errorf("a verdict of an old tab gets %s", resp.Status)
	}
	if resp := s.send(http.MethodPost, "/decisions/run-1/d1", verdict("reject")); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/decisions/run-1/d1" {
		t.Errorf("got %s to %q", resp.Status, resp.Header.Get("Location"))
	}
	made := s.server.verdicts()
	if len(made) != 1 || made[0].GetVerdict() != decisionv1.Verdict_VERDICT_REJECT || made[0].GetRequestId() != "console-1" || made[0].GetText() != "because\nI say so" || s.server.by[0] != "uid:7" {
		t.Errorf("decided %v by %v", made, s.server.by)
	}
	page = body(t, s.send(http.MethodGet, "/decisions/run-1/d1", nil))
	if !strings.Contains(page, "uid:7 rejected it") || strings.Contains(page, "<button name=") {
		t.Errorf("a decision that was made shows\n%s", page)
	}
}

// A person gives a decision more time once, also with a form that is sent twice. The page of one
// that the person cannot make, that has no end, or that waits as long as it can, offers none.
func TestMoreTime(t *testing.T) {
	s := newSite(t, approval())
	s.logIn(7)
	page := body(t, s.send(http.MethodGet, "/decisions/run-1/d1", nil))
	_, rest, _ := strings.Cut(page, `action="/extensions/run-1/d1"><p><button name="until" value="`)
	until, _, _ := strings.Cut(rest, `"`)
	for range 2 {
		if resp := s.send(http.MethodPost, "/extensions/run-1/d1", url.Values{"until": {until}}); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/decisions/run-1/d1" {
			t.Fatalf("%q gets %s: %s", until, resp.Status, body(t, resp))
		}
	}
	if sent := s.server.extended; len(sent) != 2 || !sent[0].GetExpireTime().AsTime().Equal(sent[1].GetExpireTime().AsTime()) || time.Until(sent[0].GetExpireTime().AsTime()) < 24*time.Hour {
		t.Errorf("got %v", sent)
	}
	if resp := s.send(http.MethodPost, "/extensions/run-1/d1", url.Values{"until": {"soon"}}); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an unreadable time gets %s", resp.Status)
	}
	for name, change := range map[string]func(d *decisionv1.Decision){
		"not allowed": func(d *decisionv1.Decision) { d.NotAllowed = "no right" },
		"no end":      func(d *decisionv1.Decision) { d.ExpireTime = nil },
		"7 days": func(d *decisionv1.Decision) {
			d.ExpireTime = timestamppb.New(d.GetRequestTime().AsTime().Add(7 * 24 * time.Hour))
		},
		"of a tool": func(d *decisionv1.Decision) { d.Kind = decisionv1.DecisionKind_DECISION_KIND_TOOL },
		"made":      func(d *decisionv1.Decision) { d.State = decisionv1.DecisionState_DECISION_STATE_MADE },
	} {
		d := approval()
		change(d)
		s := newSite(t, d)
		s.logIn(7)
		if page := body(t, s.send(http.MethodGet, "/decisions/run-1/d1", nil)); strings.Contains(page, "/extensions/") {
			t.Errorf("%s: the page offers more time", name)
		}
	}
}

// What a person cannot see whole, a person cannot approve here. It can be rejected.
func TestOnlyAWholeCallCanBeApproved(t *testing.T) {
	for name, change := range map[string]func(d *decisionv1.Decision){
		"cut":         func(d *decisionv1.Decision) { d.Cut = true },
		"too large":   func(d *decisionv1.Decision) { d.Arguments = `{"x":"` + strings.Repeat("a", maxShown) + `"}` },
		"not allowed": func(d *decisionv1.Decision) { d.NotAllowed = "another principal has to approve" },
	} {
		d := approval()
		change(d)
		s := newSite(t, d)
		s.logIn(7)
		page := body(t, s.send(http.MethodGet, "/decisions/run-1/d1", nil))
		if strings.Contains(page, `value="approve"`) || !strings.Contains(page, `value="reject"`) {
			t.Errorf("%s: wrong buttons", name)
		}
	}
}

func TestAnswers(t *testing.T) {
	question := func(kind decisionv1.DecisionKind) *decisionv1.Decision {
		d := approval()
		d.Kind, d.Reason, d.Options = kind, "which?", []string{"the <first>", "the second"}
		return d
	}
	asked := question(decisionv1.DecisionKind_DECISION_KIND_TOOL)
	asked.Options, asked.Schema = nil, `{"type":"object","properties":{"size":{"type":"integer"},"why":{"type":"string"}},"required":["size"]}`
	for name, test := range map[string]struct {
		d    *decisionv1.Decision
		sent url.Values
		code int
		text string
	}{
		"an option":        {question(decisionv1.DecisionKind_DECISION_KIND_QUESTION), url.Values{"etag": {"e1"}, "option": {"0"}}, 303, "the <first>"},
		"no such option":   {question(decisionv1.DecisionKind_DECISION_KIND_QUESTION), url.Values{"etag": {"e1"}, "option": {"2"}}, 409, ""},
		"words":            {question(decisionv1.DecisionKind_DECISION_KIND_QUESTION), url.Values{"etag": {"e1"}, "verdict": {"answer"}, "text": {"a\r\nb"}}, 303, "a\nb"},
		"fields":           {asked, url.Values{"etag": {"e1"}, "verdict": {"answer"}, "in0": {"3"}, "in1": {"so"}}, 303, `{"size":3,"why":"so"}`},
		"a wrong field":    {asked, url.Values{"etag": {"e1"}, "verdict": {"answer"}, "in0": {"three"}}, 400, ""},
		"no such verdict":  {question(decisionv1.DecisionKind_DECISION_KIND_QUESTION), url.Values{"etag": {"e1"}, "verdict": {"maybe"}}, 400, ""},
		"another decision": {question(decisionv1.DecisionKind_DECISION_KIND_QUESTION), url.Values{"etag": {"e2"}, "verdict": {"reject"}}, 409, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.d.State, test.d.Etag = decisionv1.DecisionState_DECISION_STATE_WAITING, "e1"
			s := newSite(t, test.d)
			s.logIn(7)
			if resp := s.send(http.MethodPost, "/decisions/run-1/d1", test.sent); resp.StatusCode != test.code {
				t.Errorf("got %s: %s", resp.Status, body(t, resp))
			}
			made := s.server.verdicts()
			if (len(made) == 1) != (test.code == 303) || len(made) == 1 && made[0].GetText() != test.text {
				t.Errorf("decided %v", made)
			}
		})
	}
}

// Texts of errors are foreign, too.
func TestAFailureIsText(t *testing.T) {
	s := newSite(t)
	s.logIn(7)
	resp := s.send(http.MethodGet, "/decisions/"+url.PathEscape("<script>\u202e"), nil)
	page := body(t, resp)
	if resp.StatusCode != http.StatusNotFound || strings.Contains(page, "<script>\\") || strings.Contains(page, "\u202e") {
		t.Errorf("got %s:\n%s", resp.Status, page)
	}
}

// A person reaches each decision, however many wait that somebody else has to decide, and sees if
// some are missing.
func TestTheInboxHidesNothing(t *testing.T) {
	var waits []*decisionv1.Decision
	for i := range 2*maxListed + 1 {
		d := approval()
		d.Name, d.NotAllowed = fmt.Sprintf("run-%d/d1", i), "four eyes"
		waits = append(waits, d)
	}
	s := newSite(t, waits...)
	s.logIn(7)
	at, rows := "/", 0
	for range 3 {
		page := body(t, s.send(http.MethodGet, at, nil))
		rows += strings.Count(page, `href="/decisions/`)
		_, next, _ := strings.Cut(page, `href="/?page=`)
		at = "/?page=" + next[:strings.IndexByte(next+`"`, '"')]
	}
	if rows != len(waits) || at != "/?page=" {
		t.Errorf("the inbox has %d decisions of %d, and then %q", rows, len(waits), at)
	}
	s = newSite(t)
	s.server.missing = []string{"the calls of toolhost <b>are</b>\u202e missing"}
	s.logIn(7)
	if page := body(t, s.send(http.MethodGet, "/", nil)); !strings.Contains(page, `the calls of toolhost &lt;b&gt;are&lt;/b&gt;\u202e missing`) || strings.Contains(page, "Nothing waits") {
		t.Errorf("the inbox without a source is\n%s", page)
	}
}

// The connection of a person who is logged in takes no place of those of strangers.
func TestAPersonIsNoStranger(t *testing.T) {
	s := newSite(t)
	s.logIn(7)
	at, err := address.ParseListener("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	set, err := listen.Open(t.Context(), "agentd", []listen.Config{{Address: at, Pages: true}}, listen.Limits{ConnectionsPerAddress: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, wait := set.Serve(s.pages.Serve)
	var clients []*http.Client
	t.Cleanup(func() {
		for _, c := range clients {
			c.CloseIdleConnections()
		}
		if err := errors.Join(s.pages.Shutdown(context.Background()), set.Close(), wait()); err != nil {
			t.Error(err)
		}
	})
	for _, person := range []bool{true, false} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+set.First().String()+"/login", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = s.pages.config.URL.Host
		if person {
			r.AddCookie(&http.Cookie{Name: "session", Value: s.cookies["session"]})
		}
		c := &http.Client{Transport: &http.Transport{}} // with a connection of its own, which stays open
		clients = append(clients, c)
		resp, err := c.Do(r)
		if err != nil {
			t.Fatalf("logged in: %t: %v", person, err)
		}
		if page := body(t, resp); resp.StatusCode != http.StatusOK {
			t.Errorf("logged in: %t: %s: %s", person, resp.Status, page)
		}
	}
}

// A person finds what it has decided and the later calls that it allowed, and ends them.
func TestMine(t *testing.T) {
	s := newSite(t)
	s.logIn(7)
	decided := func(name string) *decisionv1.Decision {
		d := approval()
		d.Name, d.State, d.Verdict, d.DecideTime = name, decisionv1.DecisionState_DECISION_STATE_MADE, decisionv1.Verdict_VERDICT_REJECT, d.GetRequestTime()
		return d
	}
	page := func(path string) string { return body(t, s.send(http.MethodGet, path, nil)) }
	if got := page("/mine"); !strings.Contains(got, `toolhost &lt;b&gt;is&lt;/b&gt;\u202e gone`) || !strings.Contains(got, "Nothing.") {
		t.Errorf("without toolhost:\n%s", got)
	}
	s.server.mine = []*decisionv1.Decision{decided("run-2/d1"), decided("run-1/d4")}
	s.server.given = []*toolhostv1.StandingApproval{{Id: "approval-1?x/", Tool: "pay", Principal: "red/ada", Scope: toolhostv1.ApprovalScope_APPROVAL_SCOPE_RUN, Run: "run-1", Arguments: []byte(`{"to":"bank"}`)}}
	first := page("/mine")
	for _, part := range []string{`href="/decisions/run-2/d1"`, "May pay be called?", "I rejected it at", "red/ada", "run run-1", `to=&#34;bank&#34;`, `action="/approvals/approval-1%3Fx%2F"`, `href="/mine?page=2%26%3c"`} {
		if !strings.Contains(first, part) {
			t.Errorf("the page lacks %q:\n%s", part, first)
		}
	}
	if second := page("/mine?page=2%26%3c"); !strings.Contains(second, "run-1/d4") || strings.Contains(second, "Revoke") || strings.Contains(second, "run-2") {
		t.Errorf("the second page:\n%s", second)
	}
	if resp := s.send(http.MethodPost, "/approvals/approval-1%3Fx%2F", url.Values{}); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/mine" {
		t.Errorf("got %s to %q", resp.Status, resp.Header.Get("Location"))
	}
	if !slices.Equal(s.server.revoked, []string{"uid:7 approval-1?x/"}) {
		t.Errorf("revoked %q", s.server.revoked)
	}
}

// An end is shown as what it is: a No, before and after it.
func TestAnEndIsANo(t *testing.T) {
	for kind, want := range map[decisionv1.DecisionKind]string{
		decisionv1.DecisionKind_DECISION_KIND_APPROVAL: "a No in ", decisionv1.DecisionKind_DECISION_KIND_PAUSE: "a No in ", decisionv1.DecisionKind_DECISION_KIND_QUESTION: "left open in ",
	} {
		d := approval()
		d.Kind = kind
		s := newSite(t, d)
		s.logIn(7)
		for _, path := range []string{"/", "/decisions/run-1/d1"} {
			if page := body(t, s.send(http.MethodGet, path, nil)); !strings.Contains(page, want) {
				t.Errorf("%s of %s lacks %q:\n%s", path, kind, want, page)
			}
		}
		d.State, d.Verdict, d.DecideTime = decisionv1.DecisionState_DECISION_STATE_MADE, decisionv1.Verdict_VERDICT_EXPIRED, d.GetExpireTime()
		if page := body(t, s.send(http.MethodGet, "/decisions/run-1/d1", nil)); !strings.Contains(page, "which counts as a No") {
			t.Errorf("an end is\n%s", page)
		}
	}
}
