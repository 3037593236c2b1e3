// Package identity defines the identity of a caller: its principal, and the key by which other
// packages store and compare it. docs/adr/0030-identity.md describes how a caller gets a principal.
//
// The package knows neither credentials nor rights.
package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DefaultTenant is the tenant of principals that no rule assigns to another one.
const DefaultTenant = "default"

const (
	maxTenant = 63
	maxName   = 128
)

// Principal is the identity of a caller. The server derives it from a connection or a credential.
// The zero value identifies no caller. A Principal is a plain value: do not change it while another
// goroutine reads it.
type Principal struct {
	// Tenant is the name of the tenant; see CheckTenant.
	Tenant string
	// Name is unique in the tenant, such as uid:1000; see CheckName.
	Name string
	// Groups are the groups of the principal, in no order. A binding can name a group.
	Groups []string
	// Credential says how the server identified the caller, such as peer, certificate, token or jwt.
	// It is for logs; it does not distinguish principals.
	Credential string
	// From is where the caller is: an IP address, or unix. It is for logs; it does not distinguish
	// principals.
	From string
	// Scope limits what the principal may do with this credential. nil: its roles alone decide.
	Scope *Scope
}

// Scope is the limit of one credential, such as a token that may call two tools. It gives no right:
// the roles of the principal still decide. Do not change a Scope after its creation.
type Scope struct {
	// Roles are names of roles. Only rights that one of them has can be used. Empty: no limit.
	Roles []string
	// Tools are patterns of names of tools, as path.Match takes them. Empty: no limit.
	Tools []string
}

// Key returns the text that identifies the principal: NAME in the default tenant, and TENANT/NAME
// in another tenant or if the name contains a slash. Two principals have the same key only if
// tenant and name are equal. The key of the zero value is empty.
func (p Principal) Key() string {
	switch {
	case p.Name == "":
		return ""
	case p.Tenant == DefaultTenant && !strings.Contains(p.Name, "/"):
		return p.Name
	}
	return p.Tenant + "/" + p.Name
}

// SplitKey returns the tenant and the name in a key. An empty key gives the default tenant and an
// empty name.
func SplitKey(key string) (tenant, name string) {
	tenant, name, found := strings.Cut(key, "/")
	if !found {
		return DefaultTenant, key
	}
	return tenant, name
}

// TenantOf returns the tenant in a key.
func TenantOf(key string) string {
	tenant, _ := SplitKey(key)
	return tenant
}

// Check returns why the tenant, the name or a group of a principal is not valid, or nil.
func (p Principal) Check() error {
	if err := CheckTenant(p.Tenant); err != nil {
		return err
	}
	if err := CheckName(p.Name); err != nil {
		return err
	}
	for _, group := range p.Groups {
		if err := CheckName(group); err != nil {
			return fmt.Errorf("a group: %w", err)
		}
	}
	return nil
}

// CheckTenant returns why a text is not the name of a tenant, or nil. A name has 1 to 63 lower-case
// letters, digits and hyphens, and does not begin with a hyphen. The name all is reserved.
func CheckTenant(name string) error {
	switch {
	case name == "all":
		return errors.New("the name of a tenant cannot be all, which means every tenant")
	case name == "" || len(name) > maxTenant || name[0] == '-':
	case !strings.ContainsFunc(name, notInTenant):
		return nil
	}
	return fmt.Errorf("the name of a tenant has 1 to %d lower-case letters, digits and hyphens, and begins with a letter or digit: %q", maxTenant, name)
}

func notInTenant(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') }

// CheckName returns why a text is not the name of a principal or group, or nil. A name has 1 to 128
// printable ASCII characters without spaces.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("a name has 1 to %d printable ASCII characters without spaces: %q", maxName, name)
	}
	return nil
}

// CheckOwnName returns why a token or a claim of an issuer must not name a principal like this, or
// nil. Names that begin with the kind of another credential, and the names of other issuers'
// principals, which contain #, belong to callers that the kernel, a CA or the other issuer has
// identified.
func CheckOwnName(name string) error {
	kind, _, found := strings.Cut(name, ":")
	if name == "anonymous" || strings.Contains(name, "#") || found && slices.Contains([]string{"uid", "uri", "dns", "mail", "http", "https"}, kind) {
		return fmt.Errorf("the name %q is reserved for callers with another credential", name)
	}
	return nil
}

type contextKey struct{}

// NewContext returns a context that carries the principal of an RPC.
func NewContext(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext returns the principal that NewContext stored. ok is false if there is none.
func FromContext(ctx context.Context) (p Principal, ok bool) {
	p, ok = ctx.Value(contextKey{}).(Principal)
	return p, ok
}

// InGroups reports whether a principal is in one of some groups, or keys names none. key is that of
// the principal, and groups are its groups within its tenant. keys are those of groups: GROUP, or
// TENANT/GROUP outside of the default tenant.
func InGroups(key string, groups, keys []string) bool {
	return len(keys) == 0 || key != "" && slices.ContainsFunc(keys, func(wanted string) bool {
		tenant, group := SplitKey(wanted)
		return tenant == TenantOf(key) && slices.Contains(groups, group)
	})
}
