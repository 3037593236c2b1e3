package oidc

import (
	"crypto/sha256"
	"time"
)

// Cached returns the number of tokens in the cache.
func Cached(v *Verifier) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.cached)
}

// Fill fills the cache with tokens that no caller presents.
func Fill(v *Verifier, expires time.Time, hash func(i int) [sha256.Size]byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := 0; len(v.cached) < maxCached; i++ {
		v.cached[hash(i)] = cachedToken{expires: expires}
	}
}

// Forget empties the cache.
func Forget(v *Verifier) {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.cached)
}
