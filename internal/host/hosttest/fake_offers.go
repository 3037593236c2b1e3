package hosttest

import (
	"context"
	"iter"
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// FakeOffers are the resources and prompts of a Fake. Every requester may use them. The zero value
// has none. All methods are safe for concurrent use.
type FakeOffers struct {
	offerMutex sync.Mutex
	resources  map[string]tool.ResourceContents // by URI
	templates  []tool.ResourceTemplate
	prompts    map[string]func(arguments map[string]string) tool.PromptText
	listed     tool.Resources
	offered    tool.Prompts
	watches    map[chan tool.ResourceChange]tool.ResourceWatch
	asked      []tool.Requester
}

// Offer adds a resource and its content.
func (f *FakeOffers) Offer(r tool.Resource, parts ...tool.ResourceContent) {
	f.offerMutex.Lock()
	defer f.offerMutex.Unlock()
	if f.resources == nil {
		f.resources = map[string]tool.ResourceContents{}
	}
	f.resources[r.Plugin+"\x00"+r.URI] = tool.ResourceContents{Plugin: r.Plugin, Parts: parts}
	f.listed.Resources = append(f.listed.Resources, r)
}

// OfferTemplate adds a template.
func (f *FakeOffers) OfferTemplate(t tool.ResourceTemplate) {
	f.offerMutex.Lock()
	defer f.offerMutex.Unlock()
	f.templates = append(f.templates, t)
}

// OfferPrompt adds a prompt with the function that fills its arguments in.
func (f *FakeOffers) OfferPrompt(p tool.Prompt, fill func(arguments map[string]string) tool.PromptText) {
	f.offerMutex.Lock()
	defer f.offerMutex.Unlock()
	if f.prompts == nil {
		f.prompts = map[string]func(map[string]string) tool.PromptText{}
	}
	f.prompts[p.Plugin+"\x00"+p.Name] = fill
	f.offered.Prompts = append(f.offered.Prompts, p)
}

// Change tells the watches of a change.
func (f *FakeOffers) Change(c tool.ResourceChange) {
	f.offerMutex.Lock()
	defer f.offerMutex.Unlock()
	for changes, q := range f.watches {
		watched := c.URI == ""
		for _, r := range q.Resources {
			watched = watched || r.URI == c.URI
		}
		if watched {
			changes <- c
		}
	}
}

// Watches returns how many watches there are.
func (f *FakeOffers) Watches() int {
	f.offerMutex.Lock()
	defer f.offerMutex.Unlock()
	return len(f.watches)
}

// Asked returns for whom resources and prompts were requested.
func (f *FakeOffers) Asked() []tool.Requester {
	f.offerMutex.Lock()
	defer f.offerMutex.Unlock()
	return append([]tool.Requester(nil), f.asked...)
}

func (f *FakeOffers) lock(who tool.Requester) (unlock func()) {
	f.offerMutex.Lock()
	f.asked = append(f.asked, who)
	return f.offerMutex.Unlock
}

// ListResources returns the resources.
func (f *FakeOffers) ListResources(_ context.Context, q tool.ResourceQuery) (tool.Resources, error) {
	defer f.lock(q.Requester)()
	return tool.Resources{Resources: append([]tool.Resource{}, f.listed.Resources...)}, nil
}

// ListResourceTemplates returns the templates.
func (f *FakeOffers) ListResourceTemplates(_ context.Context, q tool.ResourceQuery) (tool.ResourceTemplates, error) {
	defer f.lock(q.Requester)()
	return tool.ResourceTemplates{Templates: append([]tool.ResourceTemplate{}, f.templates...)}, nil
}

// ReadResource returns the content of a resource.
func (f *FakeOffers) ReadResource(_ context.Context, r tool.ResourceRead) (tool.ResourceContents, error) {
	defer f.lock(r.Requester)()
	var found []tool.ResourceContents
	for _, listed := range f.listed.Resources {
		if listed.URI == r.URI && (r.Plugin == "" || r.Plugin == listed.Plugin) {
			found = append(found, f.resources[listed.Plugin+"\x00"+r.URI])
		}
	}
	switch len(found) {
	case 0:
		return tool.ResourceContents{}, tool.Errorf(tool.KindNotFound, "no plugin offers %q", r.URI)
	case 1:
		return found[0], nil
	default:
		return tool.ResourceContents{}, tool.Errorf(tool.KindInvalidArgument, "several plugins offer %q", r.URI)
	}
}

// ListPrompts returns the prompts.
func (f *FakeOffers) ListPrompts(_ context.Context, q tool.ResourceQuery) (tool.Prompts, error) {
	defer f.lock(q.Requester)()
	listed := tool.Prompts{Prompts: []tool.Prompt{}}
	for _, p := range f.offered.Prompts {
		if q.Plugin == "" || q.Plugin == p.Plugin {
			listed.Prompts = append(listed.Prompts, p)
		}
	}
	return listed, nil
}

// GetPrompt returns a prompt.
func (f *FakeOffers) GetPrompt(_ context.Context, r tool.PromptRequest) (tool.PromptText, error) {
	defer f.lock(r.Requester)()
	for _, p := range f.offered.Prompts {
		if p.Name == r.Name && (r.Plugin == "" || r.Plugin == p.Plugin) {
			text := f.prompts[p.Plugin+"\x00"+p.Name](r.Arguments)
			text.Plugin = p.Plugin
			return text, nil
		}
	}
	return tool.PromptText{}, tool.Errorf(tool.KindNotFound, "no plugin offers %q", r.Name)
}

// CompleteArgument returns the value and one that is longer.
func (f *FakeOffers) CompleteArgument(_ context.Context, r tool.CompletionRequest) (tool.Completion, error) {
	defer f.lock(r.Requester)()
	return tool.Completion{Values: []string{r.Value, r.Value + "+"}, Total: 3, More: true}, nil
}

// WatchResources returns what Change tells.
func (f *FakeOffers) WatchResources(ctx context.Context, q tool.ResourceWatch) iter.Seq2[tool.ResourceChange, error] {
	return func(yield func(tool.ResourceChange, error) bool) {
		changes := make(chan tool.ResourceChange, 100)
		unlock := f.lock(q.Requester)
		if f.watches == nil {
			f.watches = map[chan tool.ResourceChange]tool.ResourceWatch{}
		}
		f.watches[changes] = q
		unlock()
		defer func() {
			f.offerMutex.Lock()
			defer f.offerMutex.Unlock()
			delete(f.watches, changes)
		}()
		for ok := yield(tool.ResourceChange{}, nil); ok; {
			select {
			case c := <-changes:
				ok = yield(c, nil)
			case <-ctx.Done():
				yield(tool.ResourceChange{}, tool.AsError(context.Cause(ctx)))
				return
			}
		}
	}
}
