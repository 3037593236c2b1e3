package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/time/rate"
)

const (
	// refreshAfter is the age at which keys are fetched again while they are used. So a key that the
	// issuer withdraws is refused after this time at the latest, if the issuer can be reached.
	refreshAfter = 10 * time.Minute
	// maxAge is the age from which keys are not used any more. Until then, an issuer that cannot be
	// reached stops no caller.
	maxAge = 24 * time.Hour
	// fetchBurst fetches can follow each other, and then one each fetchInterval. The bound protects
	// the issuer: any stranger can send tokens with unknown keys.
	fetchBurst    = 3
	fetchInterval = 10 * time.Second
	fetchTimeout  = 10 * time.Second

	minRSABits = 2048
	maxKeyID   = 256
)

// keySet is the public keys of an issuer. It implements oidc.KeySet. It exists because the key set
// of go-oidc fetches the keys whenever a signature is wrong, however often that is, and never
// forgets a key that the issuer has withdrawn.
//
// A lookup uses the keys in memory. Keys older than refreshAfter are used while one goroutine
// fetches new ones. A lookup waits for a fetch only if there are no keys, if they are older than
// maxAge, or if none of them has the id in the token. All such lookups share one fetch.
type keySet struct {
	ctx    context.Context // of fetches; ends with the verifier
	fetch  func(context.Context) ([]jose.JSONWebKey, error)
	tasks  *sync.WaitGroup
	logger *slog.Logger

	mu       sync.Mutex
	closed   bool
	keys     []jose.JSONWebKey // replaced as a whole
	fetched  time.Time         // when keys were fetched; zero: never
	inFlight *fetching         // nil: none
	failed   error             // of the last fetch; nil: it succeeded
	permits  *rate.Limiter     // of fetches
}

// fetching is a fetch of keys in progress.
type fetching struct {
	done chan struct{} // closed at the end
	err  error         // readable after done
}

func newKeySet(ctx context.Context, fetch func(context.Context) ([]jose.JSONWebKey, error), tasks *sync.WaitGroup, logger *slog.Logger) *keySet {
	return &keySet{ctx: ctx, fetch: fetch, tasks: tasks, logger: logger, permits: rate.NewLimiter(rate.Every(fetchInterval), fetchBurst)}
}

func (s *keySet) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// keyRef is the key that signed a token.
type keyRef struct {
	set *keySet
	key *jose.JSONWebKey // nil: none was found
	// unfetched is why the keys cannot be fetched. go-oidc does not wrap the errors of its key set.
	unfetched error
}

// errUnfetched is the error of a lookup that needs keys from the issuer and gets none.
var errUnfetched = errors.New("the keys cannot be fetched")

// keyRefKey is the context key of a *keyRef, which VerifySignature fills in.
type keyRefKey struct{}

// inForce reports whether the issuer still publishes the key, as far as the key set knows.
func (r keyRef) inForce(ctx context.Context) bool {
	keys, err := r.set.current(ctx)
	return err == nil && slices.ContainsFunc(keys, func(k jose.JSONWebKey) bool { return same(&k, r.key) })
}

func same(a, b *jose.JSONWebKey) bool {
	if a.KeyID != b.KeyID || a.Algorithm != b.Algorithm {
		return false
	}
	key, ok := a.Key.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b.Key)
}

// VerifySignature implements oidc.KeySet. It checks the header, too, and returns the payload.
func (s *keySet) VerifySignature(ctx context.Context, bearer string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(bearer, algorithms)
	if err != nil {
		return nil, err
	}
	header := signed.Signatures[0].Protected
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	ref, _ := ctx.Value(keyRefKey{}).(*keyRef)
	keys, err := s.find(ctx, header)
	if err != nil {
		if ref != nil && errors.Is(err, errUnfetched) {
			ref.unfetched = err
		}
		return nil, err
	}
	for _, key := range keys {
		if payload, err := signed.Verify(key); err == nil {
			if ref != nil {
				*ref = keyRef{set: s, key: &key}
			}
			return payload, nil
		}
	}
	return nil, fmt.Errorf("the signature is wrong (key %q, %s)", header.KeyID, header.Algorithm)
}

// checkHeader returns an error for a token that was not issued for access or identity, or that
// wants the verifier to do something special.
func checkHeader(h jose.Header) error {
	if h.JSONWebKey != nil {
		return errors.New("it brings its own key")
	}
	if _, found := h.ExtraHeaders["crit"]; found {
		return errors.New("its header demands an extension")
	}
	if len(h.KeyID) > maxKeyID {
		return errors.New("the id of its key is too long")
	}
	kind, found := h.ExtraHeaders[jose.HeaderType]
	name, ok := kind.(string)
	name = strings.TrimPrefix(strings.ToLower(name), "application/")
	if found && (!ok || name != "jwt" && name != "at+jwt") {
		return fmt.Errorf("its type is %q, and only JWT and at+jwt are accepted", kind)
	}
	return nil
}

// find returns the keys that can have signed a token.
func (s *keySet) find(ctx context.Context, h jose.Header) ([]jose.JSONWebKey, error) {
	keys, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	if found := matching(keys, h); len(found) > 0 {
		return found, nil
	}
	if h.KeyID == "" && len(keys) > 0 {
		return nil, fmt.Errorf("it names no key, and the issuer does not have exactly one for %s", h.Algorithm)
	}
	if err := s.refresh(ctx); err != nil {
		return nil, fmt.Errorf("the key %q is unknown: %w", h.KeyID, err)
	}
	s.mu.Lock()
	keys = s.keys
	s.mu.Unlock()
	if found := matching(keys, h); len(found) > 0 {
		return found, nil
	}
	return nil, fmt.Errorf("the issuer has no key %q for %s", h.KeyID, h.Algorithm)
}

// matching returns the keys that a header selects: those with its id and algorithm. A header
// without id selects a key only if there is no choice.
func matching(keys []jose.JSONWebKey, h jose.Header) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for _, key := range keys {
		if (h.KeyID == "" || key.KeyID == h.KeyID) && (key.Algorithm == "" || key.Algorithm == h.Algorithm) && fits(key.Key, h.Algorithm) {
			found = append(found, key)
		}
	}
	if h.KeyID == "" && len(found) > 1 {
		return nil
	}
	return found
}

// fits reports whether a key is of the kind that an algorithm uses.
func fits(key any, algorithm string) bool {
	switch key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(algorithm, "ES")
	case ed25519.PublicKey:
		return algorithm == string(jose.EdDSA)
	}
	return false
}

// current returns the keys. It waits for a fetch only if there are none that can be used.
func (s *keySet) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	keys, age := s.keys, time.Since(s.fetched)
	if !s.fetched.IsZero() && age < maxAge {
		if age > refreshAfter {
			_ = s.start() // the keys in memory are good enough
		}
		s.mu.Unlock()
		return keys, nil
	}
	s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys, nil
}

// refresh fetches the keys, or joins a fetch in progress, and waits for its end. Its error is
// errUnfetched, unless the keys are so new that another fetch is not permitted yet.
func (s *keySet) refresh(ctx context.Context) error {
	s.mu.Lock()
	err := s.start()
	f := s.inFlight
	s.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errUnfetched, context.Cause(ctx))
	case <-f.done:
		if f.err != nil {
			return fmt.Errorf("%w: %w", errUnfetched, f.err)
		}
		return nil
	}
}

// start starts a fetch unless one is in progress. It returns an error if none is permitted. The
// caller holds mu.
func (s *keySet) start() error {
	if s.inFlight != nil {
		return nil
	}
	if s.closed {
		return fmt.Errorf("%w: the server stops", errUnfetched)
	}
	if !s.permits.Allow() {
		if s.failed != nil {
			return fmt.Errorf("%w: %w", errUnfetched, s.failed)
		}
		return errors.New("the keys were fetched too often in the last seconds")
	}
	f := &fetching{done: make(chan struct{})}
	s.inFlight = f
	s.tasks.Go(func() { s.run(f) }) // ends with the fetch, which has a timeout; Verifier.Close waits for it
	return nil
}

func (s *keySet) run(f *fetching) {
	ctx, cancel := context.WithTimeout(s.ctx, fetchTimeout)
	defer cancel()
	var keys []jose.JSONWebKey
	keys, f.err = s.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if (f.err == nil) != (s.failed == nil) || s.fetched.IsZero() {
		if f.err != nil {
			s.logger.Warn("the keys of an issuer cannot be fetched", "error", f.err, "known", len(s.keys))
		} else {
			s.logger.Info("the keys of an issuer are fetched", "keys", len(keys))
		}
	}
	s.failed, s.inFlight = f.err, nil
	if f.err == nil {
		s.keys, s.fetched = keys, time.Now()
	}
	close(f.done)
}
