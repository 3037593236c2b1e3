package authtest

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"net/url"
)

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.authenticate(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	var g *grant
	switch f := r.PostForm; f.Get("grant_type") {
	case "authorization_code":
		g = s.codes[f.Get("code")]
		delete(s.codes, f.Get("code"))
		if g != nil && (g.Redirect != f.Get("redirect_uri") || g.Challenge != challengeOf(f.Get("code_verifier")) || g.Resource != f.Get("resource")) {
			g = nil
		}
	case "refresh_token":
		if old := s.spent[f.Get("refresh_token")]; old != nil {
			old.revoked = true // a rotated token comes back: someone has stolen it
		}
		g = s.refresh[f.Get("refresh_token")]
		if g != nil && g.Resource != f.Get("resource") {
			g = nil
		}
		if g != nil {
			delete(s.refresh, f.Get("refresh_token"))
			s.spent[f.Get("refresh_token")] = g
		}
	case "urn:ietf:params:oauth:grant-type:device_code":
		g = s.devices[f.Get("device_code")]
		switch {
		case g != nil && g.pending:
			refuse(w, http.StatusBadRequest, "authorization_pending")
			return
		case g != nil && g.denied:
			refuse(w, http.StatusBadRequest, "access_denied")
			return
		}
		delete(s.devices, f.Get("device_code"))
	case "client_credentials":
		g = &grant{User: id, Client: id, Resource: f.Get("resource"), Scope: f.Get("scope")}
	}
	if g == nil || g.revoked || g.Client != id {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	s.grant(w, g, r.PostForm.Get("grant_type") != "client_credentials")
}

// grant answers with new tokens. The caller holds s.mu.
func (s *Server) grant(w http.ResponseWriter, g *grant, refreshable bool) {
	access := "access-" + rand.Text()
	s.access[access] = g
	out := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": cmp.Or(s.Lifetime, 3600), "scope": g.Scope}
	if refreshable {
		refresh := "refresh-" + rand.Text()
		s.refresh[refresh] = g
		out["refresh_token"] = refresh
	}
	if s.Token != nil {
		s.Token(out)
	}
	Write(w, http.StatusOK, out)
}

// authenticate returns the client of a request. The caller holds s.mu.
func (s *Server) authenticate(r *http.Request) (id string, ok bool) {
	if assertion := r.PostForm.Get("client_assertion"); assertion != "" && s.Assert != nil {
		return s.Assert(assertion)
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	} else {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	}
	if c, known := s.clients[id]; known {
		return id, c.secret == secret
	}
	if want, configured := s.Secrets[id]; configured {
		return id, basic && want == secret || want == ""
	}
	return id, len(id) > 8 && id[:8] == "https://"
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.authenticate(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	for _, tokens := range []map[string]*grant{s.access, s.refresh} {
		if g := tokens[r.PostForm.Get("token")]; g != nil && g.Client == id {
			g.revoked = true
		}
	}
	w.WriteHeader(http.StatusOK)
}
