package tokenstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
)

// newStore returns a store in a new folder, and a second one that stands for another process.
func newStore(t *testing.T) (server, command *tokenstore.Store) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "state")
	server, command = tokenstore.New("toolhost", folder), tokenstore.New("toolhost", folder)
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), command.Close()); err != nil {
			t.Error(err)
		}
	})
	return server, command
}

func create(t *testing.T, s *tokenstore.Store, r tokenstore.Record) (string, tokenstore.Record) {
	t.Helper()
	if r.Tenant == "" {
		r.Tenant = "red"
	}
	token, record, err := s.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return token, record
}

func TestServerFollowsChangesAtOnce(t *testing.T) {
	server, command := newStore(t)
	if _, err := server.Verify(t.Context(), "toolhost_"+strings.Repeat("a", 10)+"_"); err == nil {
		t.Fatal("a token is valid before there is one")
	}
	for i := range 50 {
		token, r := create(t, command, tokenstore.Record{Name: fmt.Sprint("ci", i), Groups: []string{"dev"}, Tools: []string{"add"}, CreatedBy: "uid:1"})
		got, err := server.Verify(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		p := got.Principal
		if got.ID != r.ID || !got.Expires.Equal(r.Expires) || got.Current(t.Context()) != nil {
			t.Fatalf("the token %+v gives %+v", r, got)
		}
		if p.Key() != "red/"+r.Name || p.Groups[0] != "dev" || p.Scope.Tools[0] != "add" || p.Credential != "token" {
			t.Fatalf("the token of %s gives %+v", r.Name, p)
		}
		if _, err := command.Revoke(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Verify(t.Context(), token); err == nil || !strings.Contains(err.Error(), "was revoked") || got.Current(t.Context()) == nil {
			t.Fatalf("after revocation: %v", err)
		}
	}
	if _, err := command.Revoke(t.Context(), "aaaaaaaaaa"); !errors.Is(err, tokenstore.ErrUnknown) {
		t.Errorf("revoking an unknown token: %v", err)
	}
}

func TestFileHasNoSecret(t *testing.T) {
	server, command := newStore(t)
	token, r := create(t, command, tokenstore.Record{Name: "ci"})
	if !regexp.MustCompile(`^toolhost_[a-z2-7]{10}_[A-Z2-7]{59}$`).MatchString(token) {
		t.Errorf("a scanner does not find the token %s", token)
	}
	data, err := os.ReadFile(server.Path())
	if err != nil {
		t.Fatal(err)
	}
	secret := token[strings.LastIndex(token, "_")+1:]
	if strings.Contains(string(data), secret[:16]) || !strings.Contains(string(data), r.ID) {
		t.Errorf("the file has the secret or does not have the id:\n%s", data)
	}
	if info, err := os.Stat(server.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	listed, err := server.List()
	if err != nil || len(listed) != 1 || listed[0].Hash != "" || listed[0].ID != r.ID {
		t.Errorf("listed %+v, %v", listed, err)
	}
}

func TestInvalidTokensAreRefused(t *testing.T) {
	server, command := newStore(t)
	token, r := create(t, command, tokenstore.Record{Name: "ci"})
	_, elsewhere := newStore(t)
	foreign, _ := create(t, elsewhere, tokenstore.Record{Name: "ci"})
	agentd := tokenstore.New("agentd", t.TempDir())
	other, _ := create(t, agentd, tokenstore.Record{Name: "ci"})
	prefix, secret := "toolhost_"+r.ID+"_", token[len("toolhost_")+len(r.ID)+1:]
	flipped := "A"
	if secret[5] == 'A' {
		flipped = "B"
	}
	for name, test := range map[string]struct{ token, reason string }{
		"empty":               {"", "not a token of toolhost"},
		"truncated":           {token[:len(token)-1], "truncated"},
		"longer":              {token + "A", "truncated or has something after it"},
		"with a line end":     {token + "\n", "truncated or has something after it"},
		"mistyped":            {prefix + secret[:5] + flipped + secret[6:], "mistyped"},
		"without secret":      {prefix, "truncated"},
		"only an id":          {"toolhost_" + r.ID, "ill-formed"},
		"of a path":           {"toolhost_../../etc/_" + secret, "ill-formed"},
		"of upper case":       {strings.ToUpper(token), "not a token of toolhost"},
		"of lower case":       {strings.ToLower(token), "mistyped"},
		"of another server":   {foreign, "unknown"},
		"of another program":  {other, "not a token of toolhost"},
		"the hash as secret":  {prefix + storedHash(t, server.Path())[:59], "mistyped"},
		"secret of another":   {tokenstore.Rechecked(prefix + foreign[len(prefix):len(foreign)-7]), "secret of the token " + r.ID + " is wrong"},
		"with a zero byte":    {prefix + "\x00" + secret[1:], "mistyped"},
		"with several values": {token + "," + token, "truncated or has something after it"},
	} {
		t.Run(name, func(t *testing.T) {
			record, err := server.Verify(t.Context(), test.token)
			if err == nil || record.Principal.Name != "" || !strings.Contains(err.Error(), test.reason) {
				t.Fatalf("%+v, %v; want an error with %q", record, err, test.reason)
			}
			if len(secret) > 8 && strings.Contains(err.Error(), secret[:8]) {
				t.Errorf("the error has the secret: %v", err)
			}
		})
	}
	if _, err := server.Verify(t.Context(), token); err != nil {
		t.Errorf("the token itself: %v", err)
	}
}

func storedHash(t *testing.T, path string) string {
	t.Helper()
	var file struct{ Tokens []struct{ Hash string } }
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Tokens[0].Hash
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, command := newStore(t)
		token, r := create(t, command, tokenstore.Record{Name: "ci"})
		if got := r.Expires.Sub(r.Created); got != tokenstore.DefaultLifetime {
			t.Errorf("the default lifetime is %v", got)
		}
		time.Sleep(tokenstore.DefaultLifetime - time.Second)
		if _, err := server.Verify(t.Context(), token); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if _, err := server.Verify(t.Context(), token); err == nil || !strings.Contains(err.Error(), "expired at") {
			t.Errorf("after its lifetime: %v", err)
		}
		if _, _, err := command.Create(t.Context(), tokenstore.Record{Name: "ci", Tenant: "red", Expires: time.Now().Add(tokenstore.MaxLifetime + time.Minute)}); err == nil {
			t.Error("a token for longer than the maximum was created")
		}
		time.Sleep(91 * 24 * time.Hour)
		create(t, command, tokenstore.Record{Name: "later"})
		if listed, err := server.List(); err != nil || len(listed) != 1 || listed[0].Name != "later" {
			t.Errorf("long after the expiry there are %+v, %v", listed, err)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	_, command := newStore(t)
	for name, r := range map[string]tokenstore.Record{
		"a user of the machine": {Name: "uid:0"},
		"the anonymous caller":  {Name: "anonymous"},
		"a certificate":         {Name: "uri:spiffe://a/b"},
		"an issuer's user":      {Name: "https://issuer#ada"},
		"no name":               {},
		"a space":               {Name: "a b"},
		"a bad tenant":          {Name: "ci", Tenant: "../red"},
		"all tenants":           {Name: "ci", Tenant: "all"},
		"a bad group":           {Name: "ci", Groups: []string{"a b"}},
		"an unknown role":       {Name: "ci", Roles: []string{"king"}},
		"a bad pattern":         {Name: "ci", Tools: []string{"["}},
		"a past expiry":         {Name: "ci", Expires: time.Now().Add(-time.Hour)},
		"a long note":           {Name: "ci", Note: strings.Repeat("x", 201)},
	} {
		if r.Tenant == "" {
			r.Tenant = "red"
		}
		if token, _, err := command.Create(t.Context(), r); err == nil {
			t.Errorf("%s: created %s", name, token)
		}
	}
}

func TestUnsafeFilesRefuseAllTokens(t *testing.T) {
	for name, test := range map[string]struct {
		spoil  func(path string) error
		reason string
	}{
		"readable by others": {func(path string) error { return os.Chmod(path, 0o644) }, "other users can read"},
		"damaged":            {func(path string) error { return os.WriteFile(path, []byte(`{"version":1,"tokens":[`), 0o600) }, "damaged"},
		"unknown field":      {func(path string) error { return os.WriteFile(path, []byte(`{"version":1,"admin":true}`), 0o600) }, "damaged"},
		"newer":              {func(path string) error { return os.WriteFile(path, []byte(`{"version":2,"x":1}`), 0o600) }, "a newer program"},
		"a record twice": {func(path string) error {
			data, err := os.ReadFile(path)
			var file map[string]any
			if err == nil {
				err = json.Unmarshal(data, &file)
			}
			tokens := file["tokens"].([]any)
			file["tokens"] = append(tokens, tokens[0])
			data, _ = json.Marshal(file)
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		}, "two records"},
		"without hash": {func(path string) error {
			return os.WriteFile(path, []byte(`{"version":1,"tokens":[{"id":"a","name":"x","tenant":"red","hash":"","created":"2026-01-01T00:00:00Z","created_by":"","expires":"2026-01-02T00:00:00Z"}]}`), 0o600)
		}, "has no hash"},
		"a link":   {func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) }, "cannot read its tokens"},
		"a folder": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "not a regular file"},
		"gone":     {os.Remove, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			server, command := newStore(t)
			token, _ := create(t, command, tokenstore.Record{Name: "ci"})
			if _, err := server.Verify(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			if err := test.spoil(server.Path()); err != nil {
				t.Fatal(err)
			}
			_, err := server.Verify(t.Context(), token)
			if err == nil || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("got %v; want an error with %q", err, test.reason)
			}
			// Without the file, there are no tokens. Otherwise nobody knows.
			if _, unchecked := errors.AsType[*authn.UncheckedError](err); unchecked == (name == "gone") {
				t.Errorf("%v counts as a failed attempt: %t", err, !unchecked)
			}
		})
	}
}

func TestConcurrentChangesAreKept(t *testing.T) {
	server, command := newStore(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			store := []*tokenstore.Store{server, command}[i%2]
			for range 5 {
				token, _, err := store.Create(t.Context(), tokenstore.Record{Name: "ci", Tenant: "red"})
				if err == nil {
					_, err = server.Verify(t.Context(), token)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if listed, err := server.List(); err != nil || len(listed) != 40 {
		t.Errorf("%d tokens, %v", len(listed), err)
	}
}

func FuzzVerify(f *testing.F) {
	store := tokenstore.New("toolhost", f.TempDir())
	f.Cleanup(func() { _ = store.Close() })
	token, _, err := store.Create(f.Context(), tokenstore.Record{Name: "ci", Tenant: "red"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("toolhost_aaaaaaaaaa_" + strings.Repeat("A", 59))
	f.Add("toolhost__")
	f.Fuzz(func(t *testing.T, presented string) {
		if v, err := store.Verify(t.Context(), presented); (err == nil) != (presented == token) || (v.Principal.Name == "") != (err != nil) {
			t.Errorf("%q: %+v, %v", presented, v, err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	store := tokenstore.New("toolhost", b.TempDir())
	defer store.Close()
	token, _, err := store.Create(b.Context(), tokenstore.Record{Name: "ci", Tenant: "red"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := store.Verify(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
