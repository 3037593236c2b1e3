package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// summaries tell the other toolhosts of a ledger what this one runs: at the start, and when the
// catalog or the configuration changes.
type summaries struct {
	store *postgres.Store // nil: no other toolhost uses the ledger
	known *catalog.Catalog

	mu       sync.Mutex // held while a summary is made, so that the newest one is told last
	settings map[string]string
}

// newSummaries starts a goroutine that follows the catalog. stop ends it and waits for it.
func newSummaries(calls ledgerOfCalls, known *catalog.Catalog, c *config.Config) (_ *summaries, stop func()) {
	shared, ok := calls.(*postgres.Store)
	if !ok {
		return &summaries{}, func() {}
	}
	s := &summaries{store: shared, known: known, settings: digestsOf(c)}
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { // ends with ctx
		var last *catalog.Snapshot
		for {
			next, err := known.Next(ctx, last)
			if err != nil {
				return
			}
			last = next
			s.tell(nil)
		}
	})
	return s, func() {
		cancel()
		following.Wait()
	}
}

// follow is the follower that tells of changed settings.
func (s *summaries) follow(_, next *Options) (apply, cancel func(), err error) {
	if s.store == nil {
		return nil, nil, nil
	}
	settings := digestsOf(&next.Config)
	return func() { s.tell(settings) }, nil, nil
}

// tell tells of the present catalog, and of new settings unless they are nil.
func (s *summaries) tell(settings map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if settings != nil {
		s.settings = settings
	}
	info, plugins := version.Info(), map[string]string{}
	for _, p := range s.known.Snapshot().Plugins() {
		if !p.Pending() { // it does not have its name yet
			plugins[p.Info.Name] = contentOf(p)
		}
	}
	s.store.Describe(postgres.Summary{Version: info.Version + " (" + info.Commit + ")", Plugins: plugins, Settings: s.settings})
}

// shortDigest is how many characters of a digest tell contents apart that nobody has forged.
const shortDigest = 12

// contentOf says what a plugin runs, and whether it is used.
func contentOf(p *catalog.Plugin) string {
	digest := strings.TrimPrefix(p.Digest, "sha256:")
	text := strings.TrimSpace(p.Info.Version + " sha256:" + digest[:min(len(digest), shortDigest)])
	switch {
	case p.Untrusted:
		text += ", not trusted"
	case p.Problem != "":
		text += ", not used"
	}
	return text
}

// ofTheMachine are the keys of toolhost.yaml that may differ between toolhosts that do the same
// work: addresses, folders, and what a toolhost reports about itself. The database may contain a
// password.
var ofTheMachine = []string{
	"audit", "http", "listen", "listeners", "lock_file", "log", "mcp", "memory", "nodes", "plugins", "records", "state", "telemetry", "workspace",
}

// digestsOf returns a digest of the settings below each other key that has not its default. The
// environment of plugins does not count, because its values may be secrets.
func digestsOf(c *config.Config) map[string]string {
	shown := *c
	shown.Defaults.Env, shown.ByPlugin = nil, maps.Clone(c.ByPlugin)
	for name, settings := range shown.ByPlugin {
		settings.Env = nil
		shown.ByPlugin[name] = settings
	}
	usual := config.Default()
	digests, usually := sections(shown.YAML()), sections(usual.YAML())
	for key, text := range digests {
		if text == usually[key] || slices.Contains(ofTheMachine, key) {
			delete(digests, key)
			continue
		}
		sum := sha256.Sum256([]byte(text))
		digests[key] = hex.EncodeToString(sum[:])[:shortDigest]
	}
	return digests
}

// sections returns the text below each key of a file without indentation.
func sections(yaml []byte) map[string]string {
	texts, key := map[string]string{}, ""
	for line := range strings.Lines(string(yaml)) {
		switch line[0] {
		case '#', '\n': // a key without a value
			continue
		case ' ', '-':
		default:
			key, _, _ = strings.Cut(line, ":")
		}
		texts[key] += line
	}
	return texts
}
