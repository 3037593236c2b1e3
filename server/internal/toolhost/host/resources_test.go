package host_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// shelf is what a fake plugin offers, for all its instances.
type shelf struct {
	mu         sync.Mutex
	lists      int
	askers     []pluginconn.Asker
	resources  []tool.Resource
	content    string
	block      chan struct{} // not nil: reads wait for it, and then find the server stuck
	listeners  map[*shelfConn]func(tool.ResourceChange)
	subscribed []string // the instances at which a subscription began
	launched   int
	prompt     func(tool.PromptRequest) (tool.PromptText, error) // nil: a greeting
}

// shelfProcess is a process whose connection has resources and prompts.
type shelfProcess struct {
	*hosttest.Process
	conn *shelfConn
}

func (p *shelfProcess) Conn() pluginconn.Conn { return p.conn }

type shelfConn struct {
	pluginconn.Conn
	*shelf
	instance string
}

func (c *shelfConn) ListResources(_ context.Context, of pluginconn.Asker) ([]tool.Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists++
	c.askers = append(c.askers, of)
	return append([]tool.Resource{}, c.resources...), nil
}

func (c *shelfConn) ListResourceTemplates(context.Context, pluginconn.Asker) ([]tool.ResourceTemplate, error) {
	return []tool.ResourceTemplate{{URITemplate: "shelf:///{book}"}, {URITemplate: "{+anything}"}, {URITemplate: "toolhost://{+all}"}}, nil
}

func (c *shelfConn) ReadResource(ctx context.Context, of pluginconn.Asker, uri string) ([]tool.ResourceContent, error) {
	c.mu.Lock()
	block := c.block
	c.askers = append(c.askers, of)
	c.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return nil, pluginconn.ErrStuck
		}
	}
	return []tool.ResourceContent{{URI: uri, MediaType: "text/plain", Content: tool.Text(c.content)}}, nil
}

func (c *shelfConn) Subscribe(context.Context, pluginconn.Asker, string) (func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subscribed = append(c.subscribed, c.instance)
	return func() {}, nil
}

func (c *shelfConn) Notice(f func(tool.ResourceChange)) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners[c] = f
	return func() {}
}

func (c *shelfConn) ListPrompts(context.Context, pluginconn.Asker) ([]tool.Prompt, error) {
	return []tool.Prompt{{Name: "greet"}}, nil
}

func (c *shelfConn) GetPrompt(_ context.Context, _ pluginconn.Asker, r tool.PromptRequest) (tool.PromptText, error) {
	if c.prompt != nil {
		return c.prompt(r)
	}
	return tool.PromptText{Messages: []tool.PromptMessage{{Role: tool.PromptUser, Content: tool.Text(r.Name + " " + r.Arguments["who"])}}}, nil
}

func (c *shelfConn) Complete(_ context.Context, _ pluginconn.Asker, r tool.CompletionRequest) (tool.Completion, error) {
	return tool.Completion{Values: []string{r.Value + "!"}}, nil
}

// newShelf returns a host with one plugin that offers a shelf.
func newShelf(t *testing.T, s *shelf, change func(*host.Config)) *rig {
	t.Helper()
	s.listeners = map[*shelfConn]func(tool.ResourceChange){}
	description, err := hosttest.NewPlugin(hosttest.Tools()).Describe(t.Context(), pluginwire.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	description.Offers = tool.Offers{Resources: true, Subscriptions: true, Prompts: true, Completions: true}
	r := &rig{}
	cfg := host.Config{Catalog: openCatalog(t, description)}
	cfg.Launch = func(ctx context.Context, _ *catalog.Plugin, instance string) (host.Process, error) {
		p, err := r.start(ctx, hosttest.NewPlugin(hosttest.Tools()))
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.launched++
		fake := p.(*hosttest.Process)
		return &shelfProcess{fake, &shelfConn{fake.Conn(), s, instance}}, nil
	}
	if change != nil {
		change(&cfg)
	}
	r.Host = host.New(cfg)
	t.Cleanup(func() { r.Close() })
	return r
}

func read(uri string) tool.ResourceRead { return tool.ResourceRead{URI: uri} }

// A URI belongs to the plugin that lists it or has a template for it, but a template that claims
// every URI, or those of toolhost, gives nothing.
func TestURIsOfResources(t *testing.T) {
	r := newShelf(t, &shelf{resources: []tool.Resource{{URI: "shelf://listed"}}, content: "a book"}, nil)
	for uri, want := range map[string]tool.Kind{
		"shelf://listed": "", "shelf:///title": "", "other://x": tool.KindNotFound, "toolhost://x": tool.KindNotFound, "": tool.KindInvalidArgument,
	} {
		got, err := r.ReadResource(t.Context(), read(uri))
		if tool.KindOf(err) != want {
			t.Errorf("reading %q: %+v, %v", uri, got, err)
		}
	}
	if _, err := r.ReadResource(t.Context(), tool.ResourceRead{Plugin: hosttest.PluginName, URI: "other://x"}); err != nil {
		t.Errorf("a URI with its plugin: %v", err)
	}
	if _, err := r.ReadResource(t.Context(), tool.ResourceRead{Plugin: "nobody", URI: "other://x"}); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("an unknown plugin: %v", err)
	}
}

// A list is asked for once, and again after the plugin has told of a change or its instance has
// ended.
func TestListsOfResources(t *testing.T) {
	s := &shelf{resources: []tool.Resource{{URI: "shelf://b"}, {URI: "shelf://a"}}}
	r := newShelf(t, s, nil)
	lists := func() int {
		got, err := r.ListResources(t.Context(), tool.ResourceQuery{})
		if err != nil || len(got.Resources) != 2 || got.Resources[0].URI != "shelf://a" || got.Resources[0].Plugin != hosttest.PluginName {
			t.Fatalf("%+v, %v", got, err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.lists
	}
	if first, second := lists(), lists(); first != 1 || second != 1 {
		t.Errorf("the plugin listed %d and %d times", first, second)
	}
	for _, tell := range s.listeners {
		tell(tool.ResourceChange{Resources: true})
	}
	if n := lists(); n != 2 {
		t.Errorf("after a change, the plugin listed %d times", n)
	}
	r.process(0).End(tool.Exit{})
	if n := lists(); n != 3 {
		t.Errorf("after the end of the instance, the plugin listed %d times", n)
	}
	if got, err := r.ListResources(t.Context(), tool.ResourceQuery{Requester: tool.Requester{Principal: "ann"}}); err != nil || s.lists != 4 || s.askers[3].Principal != "ann" {
		t.Errorf("another principal got the list of the first one: %+v, %v", got, err)
	}
}

// A binding that is limited to tools gives no resources unless it names them, and the answer is
// that for a plugin that does not exist. The policy decides about each read.
func TestRightsToResources(t *testing.T) {
	s := &shelf{resources: []tool.Resource{{URI: "shelf://a"}, {URI: "shelf://secret"}}, content: "x"}
	rules, err := policy.Compile([]policy.Rule{
		{Name: "hidden", When: `tool.name == "` + hosttest.PluginName + `:resources" && arguments.uri.endsWith("secret")`, Then: policy.Deny},
		{Name: "asked", When: `tool.name == "` + hosttest.PluginName + `:prompts"`, Then: policy.RequireApproval},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newShelf(t, s, func(c *host.Config) { c.Policy = rules })
	as := func(tools ...string) context.Context {
		p := identity.Principal{Tenant: identity.DefaultTenant, Name: "ann"}
		bindings := authz.New([]authz.Binding{{Role: "caller", To: []string{"name:ann"}, Tools: tools}})
		return authz.NewContext(t.Context(), authz.NewCaller(p, func() *authz.Policy { return bindings }))
	}
	ann := tool.Requester{Principal: "ann"}
	for _, limited := range []context.Context{as("echo"), as("*:prompts")} {
		got, err := r.ListResources(limited, tool.ResourceQuery{Requester: ann})
		if err != nil || len(got.Resources) != 0 {
			t.Errorf("a list without the right: %+v, %v", got, err)
		}
		_, hidden := r.ReadResource(limited, tool.ResourceRead{Requester: ann, Plugin: hosttest.PluginName, URI: "shelf://a"})
		_, missing := r.ReadResource(limited, tool.ResourceRead{Requester: ann, Plugin: "nobodyx", URI: "shelf://a"})
		if hidden == nil || missing == nil || strings.ReplaceAll(hidden.Error(), hosttest.PluginName, "nobodyx") != missing.Error() {
			t.Errorf("%v, and for no plugin %v", hidden, missing)
		}
	}
	if s.launched != 0 {
		t.Error("a plugin was started for a caller that may not use it")
	}
	if _, err := r.ReadResource(as(hosttest.PluginName+":resources"), tool.ResourceRead{Requester: ann, URI: "shelf://a"}); err != nil {
		t.Errorf("with the right: %v", err)
	}
	if _, err := r.ReadResource(as(), tool.ResourceRead{Requester: ann, URI: "shelf://secret"}); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("a read that a rule denies: %v", err)
	}
	if _, err := r.GetPrompt(as(), tool.PromptRequest{Requester: ann, Name: "greet"}); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("a prompt that needs an approval: %v", err)
	}
	if _, err := r.CompleteArgument(as(), tool.CompletionRequest{Requester: ann, Prompt: "greet", Argument: "who"}); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("a completion for it: %v", err)
	}
}

// Large content becomes an artifact that only the requester can read.
func TestLargeResource(t *testing.T) {
	store, err := artifact.Open(artifact.Config{Dir: filepath.Join(t.TempDir(), "artifacts")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	whole := strings.Repeat("long ", 10_000)
	r := newShelf(t, &shelf{resources: []tool.Resource{{URI: "shelf://a"}}, content: whole}, func(c *host.Config) { c.Artifacts = store })
	got, err := r.ReadResource(t.Context(), tool.ResourceRead{Requester: tool.Requester{Principal: "ann", Session: "s"}, URI: "shelf://a"})
	if err != nil || got.Parts[0].Content.Artifact == nil || got.Parts[0].Content.Artifact.Size != uint64(len(whole)) {
		t.Fatalf("%+v, %v", got, err)
	}
	q := tool.ArtifactQuery{Principal: "ann", Session: "s", Handle: got.Parts[0].Content.Artifact.Handle, Limit: len(whole)}
	if piece, err := r.ReadArtifact(t.Context(), q); err != nil || string(piece.Data) != whole {
		t.Errorf("%d bytes, %v", len(piece.Data), err)
	}
	if q.Principal = "bob"; true {
		if _, err := r.ReadArtifact(t.Context(), q); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("another principal: %v", err)
		}
	}
}

// A plugin that does not answer a read is replaced, and the next read works.
func TestStuckRead(t *testing.T) {
	s := &shelf{resources: []tool.Resource{{URI: "shelf://a"}}, content: "x"}
	r := newShelf(t, s, func(c *host.Config) { c.DefaultTimeout = 50 * time.Millisecond })
	works := func() {
		t.Helper()
		for { // on a busy machine, a launch and a list may take longer than the timeout, too
			_, err := r.ReadResource(t.Context(), read("shelf://a"))
			if err == nil {
				return
			}
			if kind := tool.KindOf(err); kind != tool.KindTimeout && kind != tool.KindUnavailable && kind != tool.KindNotFound {
				t.Fatalf("a read with an answer: %v", err)
			}
		}
	}
	works()
	stuck := r.process(r.started() - 1)
	block := func(c chan struct{}) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.block = c
	}
	block(make(chan struct{}))
	for replaced := false; !replaced; {
		_, err := r.ReadResource(t.Context(), tool.ResourceRead{URI: "shelf://a", Plugin: hosttest.PluginName})
		if kind := tool.KindOf(err); kind != tool.KindTimeout && kind != tool.KindUnavailable {
			t.Fatalf("a read without an answer: %v", err)
		}
		select {
		case <-stuck.Done():
			replaced = true
		default: // the read may have ended before it reached the plugin
		}
	}
	block(nil)
	works()
}

// A watch learns of changes, keeps its subscription across a drain, and does not delay the drain.
func TestWatchResources(t *testing.T) {
	s := &shelf{resources: []tool.Resource{{URI: "shelf://a"}}, content: "x"}
	r := newShelf(t, s, nil)
	changes := make(chan tool.ResourceChange)
	ctx, stop := context.WithCancel(t.Context())
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer stop()
	tasks.Go(func() {
		for change, err := range r.WatchResources(ctx, tool.ResourceWatch{Resources: []tool.ResourceRef{{URI: "shelf://a"}}}) {
			if err != nil {
				return
			}
			select {
			case changes <- change:
			case <-ctx.Done():
				return
			}
		}
	})
	if first := <-changes; first != (tool.ResourceChange{}) {
		t.Fatalf("the first notice is %+v", first)
	}
	tell := func(change tool.ResourceChange) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, f := range s.listeners {
			go f(change)
		}
	}
	tell(tool.ResourceChange{URI: "shelf://a"})
	if got := <-changes; got != (tool.ResourceChange{Plugin: hosttest.PluginName, URI: "shelf://a"}) {
		t.Errorf("an update: %+v", got)
	}
	if err := r.Drain(t.Context(), hosttest.PluginName, ""); err != nil {
		t.Fatal(err)
	}
	if got := <-changes; got.URI != "shelf://a" {
		t.Errorf("after the drain: %+v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.subscribed) != 2 || s.subscribed[0] == s.subscribed[1] {
		t.Errorf("the subscriptions were at the instances %v", s.subscribed)
	}
}
