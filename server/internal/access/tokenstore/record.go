package tokenstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
)

// Lifetimes of tokens.
const (
	DefaultLifetime = 30 * 24 * time.Hour
	// MaxLifetime bounds how long a token stays valid that leaked without a trace.
	MaxLifetime = 366 * 24 * time.Hour
)

// maxNote is the maximum length in bytes of a note. A note is one line of a table.
const maxNote = 200

// Record is what the store knows about a token. It does not contain the secret.
type Record struct {
	// ID names the token in lists, logs and Revoke.
	ID string `json:"id"`
	// Name, Tenant and Groups are those of the principal.
	Name   string   `json:"name"`
	Tenant string   `json:"tenant"`
	Groups []string `json:"groups,omitempty"`
	// Roles and Tools are the scope of the token; see identity.Scope. Both empty: no limit.
	Roles []string `json:"roles,omitempty"`
	Tools []string `json:"tools,omitempty"`
	// Note is a text for people, such as where the token is used. May be empty.
	Note string `json:"note,omitempty"`
	// Hash is the SHA-256 of the token in hexadecimal digits.
	Hash string `json:"hash"`
	// Created is the time of creation, and CreatedBy the key of the principal that created the token.
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
	// Expires is the time from which the token is refused.
	Expires time.Time `json:"expires"`
	// Revoked is the time of revocation. Zero: the token is not revoked.
	Revoked time.Time `json:"revoked,omitzero"`
}

// Principal returns the principal that a caller with the token is.
func (r *Record) Principal() identity.Principal {
	p := identity.Principal{Tenant: r.Tenant, Name: r.Name, Groups: r.Groups, Credential: authn.Token}
	if len(r.Roles)+len(r.Tools) > 0 {
		p.Scope = &identity.Scope{Roles: r.Roles, Tools: r.Tools}
	}
	return p
}

// State returns valid, expired or revoked.
func (r *Record) State(now time.Time) string {
	switch {
	case !r.Revoked.IsZero():
		return "revoked"
	case !now.Before(r.Expires):
		return "expired"
	}
	return "valid"
}

// check returns why the store must not contain the record, or nil.
func (r *Record) check() error {
	if err := r.Principal().Check(); err != nil {
		return err
	}
	if err := identity.CheckOwnName(r.Name); err != nil {
		return err
	}
	if err := authz.CheckScope(identity.Scope{Roles: r.Roles, Tools: r.Tools}); err != nil {
		return err
	}
	if len(r.Note) > maxNote {
		return fmt.Errorf("the note has more than %d bytes", maxNote)
	}
	switch lifetime := r.Expires.Sub(r.Created); {
	case lifetime <= 0:
		return errors.New("the token would expire before its creation")
	case lifetime > MaxLifetime:
		return fmt.Errorf("a token is valid for at most %d days", MaxLifetime/(24*time.Hour))
	}
	return nil
}

// hash returns the bytes of Hash.
func (r *Record) hash() (sum [sha256.Size]byte, err error) {
	if len(r.Hash) == 2*sha256.Size {
		_, err = hex.Decode(sum[:], []byte(r.Hash))
	}
	if err != nil || len(r.Hash) != 2*sha256.Size {
		return sum, fmt.Errorf("the token %s has no hash", r.ID)
	}
	return sum, nil
}
