package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// revisions numbers what lists of tools depend on, for Revision. The zero value is ready for use.
// It is safe for concurrent use.
type revisions struct {
	mu       sync.Mutex
	process  string // random, because numbers begin again with each process
	number   uint64
	snapshot *catalog.Snapshot
	settings *generation
	policy   *authz.Policy
}

// of returns a text that is equal to an earlier one only if all arguments are the same. They never
// change, so it need not look into them, however many tools they have. It keeps the last ones, so
// that no new ones get their addresses.
func (r *revisions) of(snapshot *catalog.Snapshot, settings *generation, policy *authz.Policy) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == "" {
		r.process = rand.Text()
	}
	if r.snapshot != snapshot || r.settings != settings || r.policy != policy {
		r.snapshot, r.settings, r.policy = snapshot, settings, policy
		r.number++
	}
	return r.process + strconv.FormatUint(r.number, 10)
}

// Revision returns a text that identifies what ListTools returns for the query: while it stays
// equal, so does the list. Lists for two sessions or contexts with equal revisions are equal, too.
// Its cost does not depend on the number of tools, except for plugins with dynamic tools and for
// secrets, which it has to ask. Like ListTools, it waits for plugins that describe their dynamic
// tools. An empty text means that it is not known.
//
// A caller asks for the revision before the list. If something changes in between, the list is
// newer than its revision, and the next revision differs.
func (l *toolList) Revision(ctx context.Context, q tool.Query) (string, error) {
	if err := ledger.CheckSession(q.Session); err != nil {
		return "", err
	}
	settings, snapshot := l.generations.view(l.cfg.Catalog)
	caller, h := authz.FromContext(ctx), digest{sha256.New()}
	h.add(l.revisions.of(snapshot, settings, caller.Policy()))
	by, selection := caller.Principal(), q
	by.Credential, by.From = "", "" // they distinguish no principals
	selection.Session, selection.Context = "", nil
	if h.addJSON(by) != nil || h.addJSON(selection) != nil {
		return "", nil
	}
	view := settings.Secrets.Glance(q.Principal)
	for _, t := range snapshot.Secretive() {
		if _, err := view.Values(t.Plugin.Info.Name, t.Spec.RequiresAuth); err != nil {
			h.add(t.Spec.Name, err.Error())
		}
	}
	may := permission{caller, authz.ToolsList, q.Principal, q.Groups}
	described, err := l.describedFor(ctx, q, slices.DeleteFunc(slices.Clone(snapshot.Dynamic()), func(t *catalog.Tool) bool {
		return !t.Matches(q) || settings.Disabled(t.Plugin.Info.Name) || !may.use(t.Spec.Name)
	}))
	if err != nil {
		return "", err
	}
	h.add(described...)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)), nil
}

// describedFor returns digests of how the plugins of dynamic tools describe them for the viewer of
// a query.
func (l *toolList) describedFor(ctx context.Context, q tool.Query, dynamic []*catalog.Tool) (sums []string, err error) {
	asked := map[*catalog.Plugin]*description{}
	for _, t := range dynamic { // ask all plugins before waiting for one
		if _, done := asked[t.Plugin]; !done {
			asked[t.Plugin] = l.describe(t, q.Viewer())
		}
	}
	for p, d := range asked {
		if d == nil {
			continue
		}
		select {
		case <-d.done:
			sums = append(sums, p.Info.Name+" "+d.sum)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	slices.Sort(sums)
	return sums, nil
}

// sumOf returns a digest of what callers see of described tools.
func sumOf(tools map[string]*catalog.Tool) string {
	h := digest{sha256.New()}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		t := tools[name]
		h.add(name)
		for _, f := range t.Filters {
			h.add(f.Name)
		}
		if h.addJSON(t.Spec) != nil {
			return rand.Text() // another one each time, so that nothing seems unchanged
		}
	}
	return string(h.Sum(nil))
}

// digest is a hash of lists of texts.
type digest struct{ hash.Hash }

// add adds texts with their number and lengths, so that two lists of texts never look the same.
func (d digest) add(texts ...string) {
	size := binary.BigEndian.AppendUint64(nil, uint64(len(texts)))
	d.Write(size)
	for _, text := range texts {
		d.Write(binary.BigEndian.AppendUint64(size[:0], uint64(len(text))))
		d.Write([]byte(text))
	}
}

func (d digest) addJSON(v any) error {
	data, err := json.Marshal(v)
	d.add(string(data))
	return err
}
